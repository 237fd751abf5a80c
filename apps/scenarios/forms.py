"""What people may look for among utterances."""

from typing import Any

from django import forms

from apps.projects.models import Split
from apps.scenarios.models import Utterance, UtteranceQuerySet
from apps.trees.models import Tree, TreeQuerySet

NO_SPLIT = "none"
ANY = "any"
LARGEST_KEY = 2**63 - 1


class UtteranceFilter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={
                "type": "search",
                "dir": "auto",
                "placeholder": "Question, scenario, answer or id",
            }
        ),
    )
    split = forms.ChoiceField(
        choices=[("", "Any"), *Split.choices, (NO_SPLIT, "In none yet")], required=False
    )
    answer = forms.ChoiceField(
        choices=[("", "Any"), *Utterance.AnswerClass.choices], required=False
    )
    kind = forms.ChoiceField(choices=[("", "Any"), *Utterance.Kind.choices], required=False)
    origin = forms.ChoiceField(choices=[("", "Any"), *Utterance.Origin.choices], required=False)
    hard = forms.ChoiceField(
        label="Easy or hard",
        choices=[("", "Any"), ("1", "Hard: no partial model gets it right")],
        required=False,
    )
    state = forms.ChoiceField(
        choices=[("", "In the dataset"), *Utterance.State.choices, (ANY, "Any, also left out")],
        required=False,
    )
    tree = forms.ModelChoiceField(
        Tree.objects.none(), to_field_name="tree_id", required=False, widget=forms.HiddenInput
    )
    node = forms.IntegerField(
        required=False, min_value=1, max_value=LARGEST_KEY, widget=forms.HiddenInput
    )

    def __init__(self, data: Any, *, trees: TreeQuerySet) -> None:
        """`trees` are those that the reader may see."""
        super().__init__(data)
        tree: Any = self.fields["tree"]
        tree.queryset = trees.with_source()

    def filtered(self, utterances: UtteranceQuerySet) -> UtteranceQuerySet:
        self.is_valid()
        chosen = self.cleaned_data.get
        equal = {
            "answer_class": chosen("answer"),
            "kind": chosen("kind"),
            "origin": chosen("origin"),
            "is_hard": chosen("hard"),
            "tree": chosen("tree"),
            "node": chosen("node"),
        }
        utterances = utterances.filter(**{name: value for name, value in equal.items() if value})
        if (state := chosen("state")) != ANY:
            utterances = utterances.filter(state=state) if state else utterances.in_force()
        if text := chosen("q"):
            utterances = utterances.saying(text)
        if split := chosen("split"):
            utterances = utterances.in_split("" if split == NO_SPLIT else split)
        return utterances

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())
