"""Scenarios, negatives, utterances, and what experts and audits say about them."""

from apps.scenarios.models.negatives import (
    MINING,
    REPLACING,
    Negative,
    NegativeQuerySet,
    NegativeQuestion,
    NegativeScenario,
)
from apps.scenarios.models.proof import (
    AuditLimit,
    Derived,
    Finding,
    FindingQuerySet,
    ScenarioFault,
    ScenarioFaultQuerySet,
    Waived,
    Waiver,
)
from apps.scenarios.models.scenarios import (
    Contradiction,
    ContradictionQuerySet,
    Fact,
    Prompt,
    Scenario,
    ScenarioCheck,
    ScenarioQuerySet,
)
from apps.scenarios.models.utterances import (
    EXPANSION,
    Correction,
    CorrectionDraft,
    Utterance,
    UtteranceQuerySet,
)

__all__ = [
    "EXPANSION",
    "MINING",
    "REPLACING",
    "AuditLimit",
    "Contradiction",
    "ContradictionQuerySet",
    "Correction",
    "CorrectionDraft",
    "Derived",
    "Fact",
    "Finding",
    "FindingQuerySet",
    "Negative",
    "NegativeQuerySet",
    "NegativeQuestion",
    "NegativeScenario",
    "Prompt",
    "Scenario",
    "ScenarioCheck",
    "ScenarioFault",
    "ScenarioFaultQuerySet",
    "ScenarioQuerySet",
    "Utterance",
    "UtteranceQuerySet",
    "Waived",
    "Waiver",
]
