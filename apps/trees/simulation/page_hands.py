"""Hands that work through the pages: they find each form in the page, and send it."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.domain.tree import Answer
from apps.trees.models import NodeCheck
from apps.trees.simulation.browser import Browser, Page
from apps.trees.simulation.hands import RefusedError
from apps.trees.simulation.script import Asked, Ended, Script, Seen
from apps.trees.simulation.service_hands import DoubleClickError, let_time_run_out
from apps.workers.models import Assignment

WORK = re.compile(r"/work/(\d+)/(path|check|scenario|scenario-check)/(?:[\w-]+/)?$")
NEXT = "/work/next/"
WRITE, READ = "/scenario/", "/scenario-check/"
FITS, CONTRADICTION = "/scenario/fits/", "/scenario/contradiction/"
YOURS_AGAIN = "It is yours again"
OVER = "This work is over"


class PageHands:
    """One person's, with the password that they have for this run."""

    def __init__(self, site: str, project: Project, worker: User, password: str) -> None:
        self.browser = Browser(site)
        self.home = project.get_absolute_url()
        self.second_click = False
        self.page = self.browser.open(reverse("accounts:login"))
        self._send(reverse("accounts:login"), username=worker.username, password=password)

    # Steps --------------------------------------------------------------------------------

    def take(self) -> Seen | None:
        self.page = self.browser.open(self.home)
        if here := self.page.link("/path/", "/check/", "/scenario/", "/scenario-check/"):
            self.page = self.browser.open(here)
        elif self.page.form(NEXT) is not None:
            self._click_on(lambda: self._sent(NEXT))
        return self._seen() if WORK.search(self.page.path) else None

    def agree(self) -> Seen:
        return self._step("/path/agree/")

    def ask(self, asked: Asked) -> Seen:
        wanted = "words" if self._seen().span_wanted else ""
        words = {wanted: _longest_word(self._rule_text())} if wanted else {}
        return self._step("/path/ask/", text=asked.text, **words)

    def answer(self, seen: Seen, answer: Answer) -> Seen:
        return self._step("/path/answer/", answer=answer)

    def take_back(self, seen: Seen) -> Seen:
        return self._step("/path/undo/")

    def submit(self) -> Ended:
        return self._end("/path/")

    def reject(self, turn: int, reason: NodeCheck.Reason) -> Ended:
        turns = [field.get("value") for field in self.page.select("//input[@name='turn']")]
        return self._end("/path/reject/", turn=turns[turn], reason=reason, note="A scripted note.")

    def vote(self, reason: NodeCheck.Reason | None) -> Ended:
        if reason is None:
            return self._end("/check/")
        return self._end("/check/reject/", reason=reason, note="A scripted note.")

    def give_back(self, reason: str) -> bool:
        page = self._sent("/return/", reason=reason)
        self.page = page
        return "The work is given back" in page.text

    def let_time_run_out(self) -> None:
        let_time_run_out(Assignment.objects.get(pk=self._work(self.page)))

    def click_twice(self) -> None:
        self.second_click = True

    # Scenarios, of which this app knows no more than their pages ---------------------------

    def _write(self, script: Script) -> Callable[[], Ended]:
        """Mostly nothing contradicts, and then there is something to write."""
        if self.page.form(FITS) is None:  # said before, and then went away
            return partial(self._end, WRITE, text=script.situation())
        if script.happens(script.rates.rejections):
            cards = dict.fromkeys(["card-0", "card-1"], "")
            return partial(self._end, CONTRADICTION, **cards, note="A scripted note.")
        self._send(FITS)
        return partial(self._end, WRITE, text=script.situation())

    def _read(self, script: Script) -> Callable[[], Ended]:
        """Something to each question; most texts may stay."""
        says = {name: script.one_of(choices) for name, choices in self._radios().items()}
        approve, send_back = self._radios()["verdict"]
        says["verdict"] = send_back if script.sends_back() else approve
        return partial(self._end, READ, **says, note="A scripted note.")

    def _radios(self) -> dict[str, list[str]]:
        """The values of each group of radio buttons."""
        groups: dict[str, list[str]] = {}
        for radio in self.page.select("//input[@type='radio']"):
            groups.setdefault(radio.get("name"), []).append(radio.get("value"))
        return groups

    # How ----------------------------------------------------------------------------------

    def _seen(self) -> Seen:
        if OVER in self.page.text:
            raise RefusedError("lease_ended")
        if self.page.words("//*[@id='refusal']"):
            raise RefusedError("refused on the page")
        if "/check/" in self.page.path:
            return Seen(is_check=True)
        if "/scenario/" in self.page.path:
            return Seen(other_work=self._write)
        if "/scenario-check/" in self.page.path:
            return Seen(other_work=self._read)
        (talk,) = self.page.select("//*[@id='path']")
        phase = talk.get("data-phase")
        return Seen(
            needs_check=phase == "check",
            others=len(self.page.select("//input[@name='turn']")),
            position=int(talk.get("data-position")),
            may_ask=phase == "ask",
            has_final_answer=phase == "end",
            rule_text=self._rule_text(),
            span_wanted="they are wanted here" in self.page.text,
        )

    def _rule_text(self) -> str:
        return self.page.words("//*[@data-rule-text]") or self.page.words("//article")

    def _work(self, page: Page) -> str:
        found = WORK.search(page.path)
        return found.group(1) if found else ""

    def _step(self, ending: str, **values: str) -> Seen:
        self.page = self._sent(ending, **values)
        return self._seen()

    def _send(self, ending: str, **values: str) -> None:
        self.page = self._sent(ending, **values)

    def _sent(self, ending: str, **values: str) -> Page:
        form = self.page.form(ending)
        if form is None:
            raise RefusedError(f"no form for {urlsplit(ending).path}")
        return self.browser.send(self.page, form, **values)

    def _end(self, ending: str, **values: str) -> Ended:
        work = self._work(self.page)
        pages = self._click_on(lambda: self._sent(ending, **values))
        answers = {self._ended(page, work) for page in pages}
        if Ended.AGAIN in answers:  # which is said once
            return Ended.AGAIN
        if len(answers) > 1:
            raise DoubleClickError(", ".join(answers))
        return answers.pop()

    def _ended(self, page: Page, work: str) -> Ended:
        """After a submit people see their next work, or why this one was not taken."""
        if self._work(page) != work:
            return Ended.AGAIN if YOURS_AGAIN in page.text else Ended.ACCEPTED
        if OVER in page.text:
            return Ended.LOST
        raise RefusedError("refused on the page")

    def _click_on(self, act: Callable[[], Page]) -> list[Page]:
        """Does it, twice at the same moment if that was wanted."""
        if not self.second_click:
            pages = [act()]
        else:
            self.second_click = False
            with ThreadPoolExecutor(2) as pool:
                pages = [made.result() for made in [pool.submit(act), pool.submit(act)]]
        self.page = pages[0]
        return pages


def _longest_word(text: str) -> str:
    words: list[Any] = re.findall(r"\w+", text)
    return max(words, key=len, default="")
