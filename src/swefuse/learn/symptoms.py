"""What the events of stage 2 mean and what to try, in words; free of torch, for whoever shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symptom:
    """What an event means (``what``, ``cause``) and what to do (``remedy``)."""

    what: str
    cause: str
    remedy: str


SYMPTOMS: dict[str, Symptom] = {
    "alarm": Symptom(
        "the mean entropy of the value model's verdicts jumped",
        "candidates are unlike those that the value model has learnt from: the policy moved fast, or the tasks changed",
        "the policy takes SFT steps for rlvr.watch.fallback rounds; if it comes again, lower rlvr.lr or raise rlvr.value.steps",
    ),
    "entropy_floor": Symptom(
        "the policy's entropy fell below its floor",
        "it settles on few edits: sampled pass@1 may still rise, pass@4 falls and groups tell it nothing more",
        "lower rlvr.lr or rlvr.rounds, raise rlvr.clip_slope, or take the best checkpoint before this round",
    ),
    "entropy_ceiling": Symptom(
        "the policy's entropy rose above its ceiling",
        "updates push probability away from what failed faster than towards what passed",
        "lower rlvr.lr or rlvr.clip_slope; look at pass_rate: below a few per cent there is hardly anything to push towards",
    ),
    "kl": Symptom(
        "the policy is far from the model that it started from",
        "many or large updates; what the value model reads off the reference fits such candidates less and less",
        "lower rlvr.lr or rlvr.rounds; with the pair objectives raise rlvr.beta",
    ),
    "winners": Symptom(
        "candidates that passed are less probable than under the reference",
        "a loss on pairs lowers both sides as long as the loser falls faster",
        "raise rlvr.anchor, or use rlvr.objective = group",
    ),
    "length": Symptom(
        "messages grew or shrank against the first round",
        "length pays by itself: in free writing mostly an end that is never written, or an empty answer that is rewarded",
        "read some messages ('swefuse library list'); lower the limit of tokens, or correct what the verifier rewards",
    ),
    "broken": Symptom(
        "many candidates do not parse, hang or touch what they may not",
        "the policy explores outside of what it learnt, or has found that breaking the verifier pays",
        "look at outcomes in metrics.jsonl; sample under a grammar (guide), lower rlvr.lr",
    ),
    "nothing_to_learn": Symptom(
        "hardly any group had candidates of unlike reward",
        "the tasks are too hard or too easy for this policy, so that all candidates of a task earn the same",
        "mix in tasks of other difficulty, raise rlvr.samples, or use rlvr.reward = score",
    ),
    "repeated": Symptom(
        "most samples of a task are the same message",
        "the policy has settled: a group of equal samples tells nothing, whatever it earns",
        "lower rlvr.lr or rlvr.rounds, raise rlvr.kl, or take tasks of other difficulty; more samples would repeat as well",
    ),
    "overfits_tests": Symptom(
        "many candidates pass the tests that count and not the hidden ones",
        "the tests of these tasks are weak and the policy has found it out; or they were weak before, if it is so from round 1 on",
        "make the tests stronger ('swefuse tasks strength --add'), lower rlvr.rounds, or weigh pairs by the posterior",
    ),
    "collusion": Symptom(
        "the value model got worse on pairs of known truth, and training ended with the best state restored",
        "value model and policy have learnt the verifier's errors from each other: what passes is no longer what is right",
        "look at suspects.jsonl for bad tests; lower rlvr.lr or rlvr.value.lr, or raise rlvr.value.foreign",
    ),
    "suspects": Symptom(
        "the value model was sure of the side that lost, in pairs that were verified anew at the end",
        "a bad or flaky test, or a value model that is sure of what it does not know",
        "read the candidates below and the tests of these tasks; what changed on the second look is flaky ('swefuse tasks flaky')",
    ),
    "one_class": Symptom(
        "all candidates that the value model could learn from had the same outcome",
        "the tasks are too hard or too easy for this policy, or the verifier says the same whatever it is shown",
        "nothing is weighed until both outcomes were seen; look at some verdicts, and mix in tasks of other difficulty",
    ),
    "ungraded": Symptom(
        "too many candidates could not be graded, and the run stopped",
        "the sandbox failed; the policy is not to blame",
        "run 'swefuse doctor', then call again: the run goes on from its last state",
    ),
    "not_finite": Symptom(
        "a gradient was not finite, and the run stopped before it was applied",
        "a loss ran over: rlvr.lr is too high, or a probability became 0",
        "lower rlvr.lr and call again; the round's batch lies in bad_batch.json beside events.jsonl",
    ),
}
