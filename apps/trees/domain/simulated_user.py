"""The user that workers talk to: answers follow-up questions with a random Yes or No (design 4.2).

What is answered at a place depends on the tree's seed and the place alone. So a run can be
repeated, whoever was first; taking a question back and asking another one draws no other answer;
and nobody who does not know the seed can say what comes.
"""

import hmac

from apps.trees.domain.tree import Answer

SEED_BYTES = 16


def simulated_answer(seed: str, place: str) -> Answer:
    """The user's answer to the follow-up question at `place`; Yes in one half of all places.

    `seed` are 32 hex digits that never leave the server.
    """
    drawn = hmac.digest(bytes.fromhex(seed), place.encode(), "sha256")
    return Answer.YES if drawn[0] % 2 else Answer.NO
