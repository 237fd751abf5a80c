"""Work that was handed to a person, where a row comes from, and what people must pass first."""

from apps.workers.models.qualification import (
    AnswerClass,
    Qualification,
    QualificationAnswer,
    QualificationAttempt,
    QualificationQuestion,
    QualificationSettings,
    QualificationTest,
)
from apps.workers.models.work import (
    WORKER_KINDS,
    Assignment,
    AssignmentQuerySet,
    KeptText,
    Kind,
    Provenance,
)

__all__ = [
    "WORKER_KINDS",
    "AnswerClass",
    "Assignment",
    "AssignmentQuerySet",
    "KeptText",
    "Kind",
    "Provenance",
    "Qualification",
    "QualificationAnswer",
    "QualificationAttempt",
    "QualificationQuestion",
    "QualificationSettings",
    "QualificationTest",
]
