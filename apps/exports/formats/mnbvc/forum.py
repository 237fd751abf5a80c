"""MNBVC's forum: a tree is a thread. The system asks, users answer Yes or No, each in a reply.

`引用ID` is the reply that is answered (empty: the thread's subject), so the tree can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    FieldError,
    Increasing,
    any_text,
    hex40,
    json_text,
    list_of,
    number,
    object_of,
    one_of,
    same,
    text,
)
from apps.exports.formats.files import as_json, locating
from apps.exports.formats.mnbvc.lines import (
    MOST_BYTES,
    PLACE,
    check_split,
    day,
    day_of,
    extra_of,
    moment,
    read_lines,
    time_of,
    write_lines,
)
from apps.exports.formats.rows import SPLITS, Cut, Found, NodeRow, Options, Source, TreeRow

NAME = "mnbvc-forum"
READERS = (
    "MNBVC forum: a line per tree, its questions and answers as replies. Read by who trains "
    "Chinese language models."
)
MARKS: tuple[str, ...] = ("*_forum_*_*.jsonl",)
CUT = Cut.BY_SPLIT

_KIND = "forum"
SYSTEM, USER = "系统", "用户"


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        lines = (_thread(tree, split, source.name) for tree in source.trees(split))
        write_lines(source, folder, _KIND, split, lines, MOST_BYTES)


def _thread(tree: TreeRow, split: str, name: str) -> Any:
    replies = _replies(tree.nodes)
    extra = {"tree_id": tree.tree_id, "split": split, "来源网址": tree.source_url,
             "规则文本": tree.snippet}  # fmt: skip
    return {
        "ID": tree.tree_id,
        "主题": tree.question,
        "来源": name,
        "回复": replies,
        "元数据": {
            "发帖时间": time_of(tree.created_at),
            "回复数": len(replies),
            PLACE: as_json(extra),
        },
        "时间": day_of(tree.created_at),
    }


def _replies(nodes: tuple[NodeRow, ...]) -> list[dict[str, str]]:
    replies: list[dict[str, str]] = []
    posts: dict[int, str] = {}
    for node in nodes:
        above = posts.get(node.parent_id, "")
        if node.edge:
            above = _post(replies, node.edge, USER, above)
        posts[node.node_id] = _post(replies, node.text, SYSTEM, above)
    return replies


def _post(replies: list[dict[str, str]], said: str, who: str, above: str) -> str:
    reply_id = str(len(replies) + 1)
    replies.append(
        {"楼ID": reply_id, "回复": said, PLACE: as_json({"回复人": who, "引用ID": above})}
    )
    return reply_id


_REPLY = object_of({
    "楼ID": text, "回复": text,
    PLACE: json_text(object_of({"回复人": one_of(SYSTEM, USER), "引用ID": any_text})),
})  # fmt: skip
_EXTRA = object_of({"tree_id": hex40, "split": one_of(*SPLITS), "来源网址": text, "规则文本": text})
_CHECK = object_of({
    "ID": hex40, "主题": text, "来源": text, "回复": list_of(_REPLY), "时间": day,
    "元数据": object_of({"发帖时间": moment, "回复数": number, PLACE: json_text(_EXTRA)}),
})  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    orders: dict[str, Increasing] = {}
    for file, where, split, value in read_lines(folder, _KIND, _CHECK):
        extra = extra_of(value["元数据"])
        with locating(file, where):
            check_split(extra, split)
            same(value["ID"], extra["tree_id"], "ID")
            same(value["时间"], value["元数据"]["发帖时间"].split()[0], "时间")
            same(value["元数据"]["回复数"], len(value["回复"]), "元数据.回复数")
            orders.setdefault(split, Increasing("ID")).check(value["ID"])
            nodes = tuple(_nodes(value["回复"]))
        tree = TreeRow(value["ID"], extra["来源网址"], snippet=extra["规则文本"],
                       question=value["主题"], nodes=nodes)  # fmt: skip
        yield Found(file, where, split, value, trees=(tree,))


def _nodes(replies: list[dict[str, str]]) -> Iterator[NodeRow]:
    """The tree's nodes again. Raises FieldError where replies do not hang together."""
    answered: dict[str, tuple[int, str]] = {"": (-1, "")}  # a user's reply: whom, and what
    asked: dict[str, tuple[int, str]] = {}
    for index, reply in enumerate(replies):
        field = f"回复[{index}]"
        extra = extra_of(reply)
        same(reply["楼ID"], str(index + 1), f"{field}.楼ID")
        open_to_reply = asked if extra["回复人"] == USER else answered
        if extra["引用ID"] not in open_to_reply:
            raise FieldError(f"{field}.{PLACE}.引用ID", "is no reply before it by the other side")
        above = open_to_reply[extra["引用ID"]]
        if extra["回复人"] == USER:
            one_of("Yes", "No")(reply["回复"], f"{field}.回复")
            if (above[0], reply["回复"]) in answered.values():
                raise FieldError(f"{field}.回复", "is the answer of a reply before it, too")
            answered[reply["楼ID"]] = above[0], reply["回复"]
        else:
            # A reply is answered once: whoever hangs there next is one too many.
            del answered[extra["引用ID"]]
            node = _node(len(asked), above, reply["回复"])
            asked[reply["楼ID"]] = node.node_id, ""
            yield node


def _node(node_id: int, above: tuple[int, str], said: str) -> NodeRow:
    kind = "answer" if said in ("Yes", "No") else "question"
    return NodeRow(node_id, above[0], above[1], kind, said)
