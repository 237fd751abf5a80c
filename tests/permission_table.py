"""Who gets what at which address: role x URL x method.

One row per URL name. A method's cell holds what anonymous, stranger (logged in, not a member),
worker, expert and admin get, in this order: a status, or LOGIN, which is a redirect to the log-in
page. A method without a cell is refused: LOGIN for anonymous, 405 for everybody else.

A new URL without a row fails tests/test_permissions.py with its name. `world` there says which
value each argument of an address gets; POST sends the row's `data`, which may be made from it.
"""

from dataclasses import dataclass, field

LOGIN = "login"
ROLES = ("anonymous", "stranger", "worker", "expert", "admin")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

Cell = tuple[str | int, ...]

REFUSED: Cell = (LOGIN, 405, 405, 405, 405)


def only_admins(status: int) -> Cell:
    return (LOGIN, 404, 404, 404, status)


def readers(status: int) -> Cell:
    return (LOGIN, 404, 404, status, status)


def members(status: int) -> Cell:
    return (LOGIN, 404, status, status, status)


def whose_work_it_is(status: int) -> Cell:
    """The expert of `world`, who has taken the work; the admin has not."""
    return (LOGIN, 404, 404, status, 404)


def the_worker(status: int) -> Cell:
    """The worker of `world`, who has the path and the check of a turn in hand."""
    return (LOGIN, 404, status, 404, 404)


def people(status: int) -> Cell:
    """Everybody who is logged in."""
    return (LOGIN, status, status, status, status)


def everybody(status: int) -> Cell:
    return (status,) * len(ROLES)


@dataclass(frozen=True)
class Row:
    GET: Cell = REFUSED
    POST: Cell = REFUSED
    PUT: Cell = REFUSED
    PATCH: Cell = REFUSED
    DELETE: Cell = REFUSED
    OPTIONS: Cell = REFUSED
    HEAD: Cell | None = None
    data: dict[str, str] = field(default_factory=dict)
    takes: dict[str, str] = field(default_factory=dict)  # argument -> another value of `world`

    def cell(self, method: str) -> Cell:
        cell = getattr(self, method)
        return self.GET if cell is None else cell


PATH = {"assignment_id": "path_id"}
NODE_CHECK = {"assignment_id": "node_check_id"}
SCENARIO = {"assignment_id": "scenario_work_id"}
SCENARIO_CHECK = {"assignment_id": "scenario_check_id"}

# Pages with a form answer HEAD with 405, like every method that nobody named.
TABLE: dict[str, Row] = {
    "accounts:login": Row(
        GET=(200, 302, 302, 302, 302),
        POST=(200, 302, 302, 302, 302),
        PUT=(200, 302, 302, 302, 302),
        PATCH=(405, 302, 302, 302, 302),
        DELETE=(405, 302, 302, 302, 302),
        OPTIONS=(200, 302, 302, 302, 302),
    ),
    "accounts:logout": Row(POST=(LOGIN, 302, 302, 302, 302), OPTIONS=people(200)),
    "accounts:password": Row(
        GET=people(200), POST=people(200), PUT=people(200), OPTIONS=people(200)
    ),
    "accounts:profile": Row(GET=people(200), HEAD=REFUSED, POST=people(302), data={"name": "Ada"}),
    "accounts:theme": Row(
        GET=everybody(405),
        POST=everybody(302),
        PUT=everybody(405),
        PATCH=everybody(405),
        DELETE=everybody(405),
        OPTIONS=everybody(405),
    ),
    "desk:home": Row(GET=people(200)),
    "desk:project": Row(GET=members(200)),
    "projects:new": Row(GET=people(403), HEAD=REFUSED, POST=people(403)),
    "projects:delete": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "projects:deleted": Row(GET=people(200)),
    # A project that is there is not among the deleted ones.
    "projects:restore": Row(POST=people(404)),
    "projects:settings": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "projects:guidelines": Row(GET=members(200)),
    "projects:guideline": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "projects:people": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "projects:new_account": Row(POST=only_admins(200)),
    "projects:role": Row(POST=only_admins(302), data={"role": "expert"}),
    "projects:remove": Row(POST=only_admins(302)),
    "projects:log": Row(GET=only_admins(200)),
    "projects:job": Row(GET=only_admins(200)),
    "projects:cancel_job": Row(POST=only_admins(302)),
    "exports:list": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "exports:import": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "exports:download": Row(GET=only_admins(302), takes={"job_id": "export_id"}),
    "exports:card": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "exports:splits": Row(GET=only_admins(200)),
    "exports:make_splits": Row(POST=only_admins(302)),
    "exports:freeze_splits": Row(POST=only_admins(302)),
    "exports:thaw_splits": Row(POST=only_admins(302)),
    "exports:look_for_leaks": Row(POST=only_admins(302)),
    "exports:split_documents": Row(GET=only_admins(200)),
    "exports:pin": Row(POST=only_admins(302), data={"split": "dev"}),
    "snippets:licences": Row(GET=only_admins(200)),
    "snippets:set_licence": Row(
        POST=only_admins(302), data={"domain": "office.example", "licence": "CC0"}
    ),
    "exports:retry": Row(POST=only_admins(302), takes={"job_id": "export_id"}),
    # Whoever has a link; this one is none.
    "exports:file": Row(
        GET=everybody(404),
        POST=everybody(405),
        PUT=everybody(405),
        PATCH=everybody(405),
        DELETE=everybody(405),
        OPTIONS=everybody(405),
    ),
    "desk:workers": Row(GET=only_admins(200)),
    "workers:next": Row(POST=members(302)),
    "workers:another": Row(POST=members(302)),
    "workers:mine": Row(GET=members(200)),
    "workers:leases": Row(GET=only_admins(200)),
    "workers:draft": Row(
        POST=(LOGIN, 404, 403, 200, 403), data={"version": "1", "content": '{"text": "Can"}'}
    ),
    "workers:return": Row(POST=whose_work_it_is(302)),
    "workers:release": Row(POST=only_admins(302)),
    "workers:qualification": Row(GET=readers(200)),
    "workers:qualification_settings": Row(
        GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)
    ),
    "workers:test_question_new": Row(GET=readers(200), HEAD=REFUSED, POST=readers(200)),
    "workers:test_question": Row(GET=readers(200), HEAD=REFUSED, POST=readers(200)),
    "workers:test_question_remove": Row(POST=readers(302)),
    "workers:test_revise": Row(POST=readers(302)),
    "workers:test_publish": Row(POST=readers(302)),
    "workers:test_discard": Row(POST=readers(302)),
    "workers:qualified": Row(GET=only_admins(200)),
    "workers:qualify": Row(POST=only_admins(302)),
    "workers:disqualify": Row(POST=only_admins(302)),
    "workers:attempt_begin": Row(POST=members(302)),
    "workers:attempt": Row(GET=the_worker(200), HEAD=REFUSED, POST=the_worker(200)),
    "snippets:documents": Row(GET=readers(200)),
    "snippets:document": Row(GET=readers(200)),
    "snippets:document_details": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "snippets:snippets": Row(GET=readers(200)),
    "snippets:numbers": Row(GET=readers(200)),
    "snippets:upload": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "snippets:paste": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    # Where no host is named that may be fetched from; tests/snippets/test_ingest_fetch.py has more.
    "snippets:fetch": Row(GET=only_admins(404), HEAD=REFUSED, POST=only_admins(404)),
    "snippets:segmentation": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "snippets:questions": Row(GET=readers(200)),
    "snippets:question": Row(GET=readers(200), HEAD=REFUSED, POST=readers(200)),
    "snippets:question_next": Row(POST=readers(302)),
    "snippets:question_take": Row(POST=readers(302)),
    "snippets:question_work": Row(
        GET=whose_work_it_is(200), HEAD=REFUSED, POST=whose_work_it_is(200)
    ),
    "snippets:question_hints": Row(POST=whose_work_it_is(200), data={"text": "Can"}),
    "snippets:question_skip": Row(POST=whose_work_it_is(302), data={"reason": "Too hard."}),
    "snippets:question_no_rule": Row(POST=whose_work_it_is(302), data={"key": "k"}),
    "snippets:check_next": Row(POST=readers(302)),
    "snippets:question_check": Row(
        GET=whose_work_it_is(200),
        HEAD=REFUSED,
        POST=whose_work_it_is(302),
        data={"key": "k"},
        takes={"assignment_id": "check_id"},
    ),
    "snippets:question_send_back": Row(
        POST=whose_work_it_is(302),
        data={"key": "k", "note": "Ask for less."},
        takes={"assignment_id": "check_id"},
    ),
    "snippets:check_skip": Row(
        POST=whose_work_it_is(302),
        data={"reason": "Too hard."},
        takes={"assignment_id": "check_id"},
    ),
    "snippets:bench_list": Row(GET=readers(200)),
    "snippets:bench_next": Row(POST=readers(302)),
    "snippets:bench": Row(GET=readers(200)),
    "snippets:bench_take": Row(POST=readers(302)),
    # Nobody here has the document: the bench comes back and says so.
    "snippets:bench_leave": Row(POST=readers(200)),
    "snippets:bench_undo": Row(POST=readers(200)),
    "snippets:bench_accept_all": Row(POST=readers(200)),
    **{
        f"snippets:bench_{action}": Row(
            POST=readers(200), data={"seen": "1"}, takes={"document_id": "bench_document_id"}
        )
        for action in ("accept", "discard", "edit", "merge", "reopen", "split")
    },
    "trees:path": Row(GET=the_worker(200), HEAD=REFUSED, POST=the_worker(200), takes=PATH),
    **{
        f"trees:path_{step}": Row(POST=the_worker(status), data=data, takes=PATH)
        for step, status, data in (
            ("agree", 302, {}),
            ("again", 302, {}),
            ("ask", 302, {"position": "0", "text": "Are you over 18?"}),
            ("answer", 302, {"position": "0", "answer": "Yes"}),
            ("undo", 200, {"position": "0"}),  # there is nothing to take back
            ("reject", 200, {"key": "k"}),  # nor to reject
            ("return", 302, {"reason": "Too hard."}),
            ("hints", 200, {"text": "Are"}),
        )
    },
    "trees:node_check": Row(
        GET=the_worker(200),
        HEAD=REFUSED,
        POST=the_worker(302),
        data={"key": "k"},
        takes=NODE_CHECK,
    ),
    "trees:node_check_reject": Row(
        POST=the_worker(302), data={"key": "k", "reason": "unclear"}, takes=NODE_CHECK
    ),
    "trees:list": Row(GET=readers(200)),
    "trees:detail": Row(GET=readers(200)),
    "trees:history": Row(GET=readers(200)),
    "trees:compare": Row(GET=readers(200)),
    "trees:wording": Row(POST=readers(200)),
    "trees:answer": Row(POST=readers(200)),
    "trees:take_out": Row(POST=readers(200)),
    "trees:give": Row(POST=readers(200)),
    "trees:comment": Row(POST=readers(200)),
    "trees:restore": Row(POST=readers(302)),
    "trees:to_settle": Row(GET=readers(200)),
    "trees:decide": Row(POST=readers(200)),
    "trees:prune_all": Row(GET=only_admins(200), HEAD=REFUSED, POST=only_admins(200)),
    "scenarios:negatives": Row(GET=readers(200)),
    "scenarios:negatives_mine": Row(POST=only_admins(200)),
    "scenarios:negative": Row(GET=readers(200)),
    "scenarios:negative_drop": Row(POST=readers(200)),
    "scenarios:negative_replace": Row(POST=readers(200)),
    "scenarios:negative_restore": Row(POST=readers(302)),
    "scenarios:similarities": Row(GET=readers(200)),
    "scenarios:similarities_measure": Row(POST=readers(302)),
    "scenarios:similarities_threshold": Row(POST=only_admins(302), data={"threshold": "0.3"}),
    "scenarios:verification": Row(GET=readers(200)),
    "scenarios:verify_next": Row(GET=readers(302)),
    "scenarios:verify": Row(GET=readers(200)),
    # Nobody has seen this version: the page comes back and says so.
    "scenarios:verify_accept": Row(POST=readers(200), data={"seen": "99"}),
    "scenarios:verify_keep": Row(POST=readers(200), data={"seen": "1"}),
    "scenarios:verify_correct": Row(POST=readers(200)),
    # Nothing was typed that could be kept.
    "scenarios:correction_draft": Row(POST=readers(400)),
    "scenarios:correction_draft_forget": Row(POST=readers(302)),
    "scenarios:verify_drop": Row(POST=readers(200), data={"seen": "1"}),
    "scenarios:verify_reopen": Row(POST=readers(302), data={"seen": "1"}),
    "scenarios:verify_tree": Row(
        GET=readers(200), HEAD=REFUSED, POST=readers(200), data={"seen": "other"}
    ),
    "scenarios:expand": Row(POST=only_admins(302)),
    "scenarios:consistency": Row(GET=readers(200)),
    "scenarios:prove": Row(POST=readers(302)),
    "scenarios:waive": Row(POST=readers(200)),
    "scenarios:withdraw_waiver": Row(POST=readers(302)),
    "scenarios:text_checks": Row(GET=readers(200)),
    "scenarios:scenario": Row(
        GET=the_worker(200), HEAD=REFUSED, POST=the_worker(200), takes=SCENARIO
    ),
    "scenarios:scenario_fits": Row(POST=the_worker(302), takes=SCENARIO),
    "scenarios:scenario_look_again": Row(POST=the_worker(302), takes=SCENARIO),
    "scenarios:scenario_contradiction": Row(POST=the_worker(200), takes=SCENARIO),
    "scenarios:scenario_hints": Row(
        POST=the_worker(200), data={"text": "I am 19."}, takes=SCENARIO
    ),
    "scenarios:scenario_again": Row(POST=the_worker(302), takes=SCENARIO),
    "scenarios:scenario_return": Row(POST=the_worker(302), takes=SCENARIO),
    "scenarios:scenario_check": Row(
        GET=the_worker(200), HEAD=REFUSED, POST=the_worker(200), takes=SCENARIO_CHECK
    ),
    "scenarios:scenario_list": Row(GET=readers(200)),
    "scenarios:scenario_sheet": Row(GET=readers(200), HEAD=REFUSED, POST=readers(200)),
    "scenarios:scenario_send_back": Row(POST=readers(200)),
    "scenarios:contradiction_settle": Row(POST=readers(302)),
    "scenarios:utterances": Row(GET=readers(200)),
    "scenarios:audit": Row(GET=readers(200)),
    "scenarios:audit_parts": Row(GET=readers(200)),
    "scenarios:audit_start": Row(POST=readers(302)),
    "scenarios:audit_limit": Row(POST=only_admins(302), data={"most": "50"}),
    "scenarios:utterance": Row(GET=readers(200)),
}
