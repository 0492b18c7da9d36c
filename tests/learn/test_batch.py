from __future__ import annotations

from itertools import islice

import pytest
import torch

from learn_samples import group, tokenizer
from swefuse.errors import DataError
from swefuse.learn.batch import Example, allowed_mask, bucketed, collate, open_tokens, pack
from swefuse.learn.model import make_nano


def test_open_tokens_by_hand() -> None:
    messages = [(1, 2, 3), (1, 2, 4), (1, 5), (6,)]
    assert open_tokens(messages, (1, 2, 4)) == ((1, 6), (2, 5), (3, 4))
    assert open_tokens(messages, (1, 5)) == ((1, 6), (2, 5))
    assert open_tokens(messages, (6,)) == ((1, 6),)
    assert open_tokens([(1, 2)], (1, 2)) == ((1,), (2,))


def test_an_example_without_trained_tokens_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="row-7"):
        Example((1, 2, 3), (), (), "row-7")


def test_collate_pads_right_and_keeps_a_pad_id_inside_a_row() -> None:
    batch = collate([Example((5, 0, 7), (1, 2), ((0, 3), ())), Example((4, 0, 6, 8), (3,), ((8,),))], vocabulary=9, pad=0)
    assert batch.ids.tolist() == [[5, 0, 7, 0], [4, 0, 6, 8]]
    assert batch.mask.tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert batch.targets.tolist() == [0, 7, 8]
    assert list(zip(batch.row.tolist(), batch.column.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2)]
    assert [row.nonzero().flatten().tolist() for row in batch.allowed] == [[0, 3], [], [8]]


def test_allowed_mask_of_an_open_row_stays_false() -> None:
    assert allowed_mask([(0, 2), ()], 3).tolist() == [[True, False, True], [False, False, False]]


GROUPS = [group((4, 5, 6), (7, 8), (9,), (1, 0, 3)), group((1, 2, 0, 4, 5), (6, 7), (6, 7))]


@torch.no_grad()
def test_one_packed_row_equals_a_forward_pass_for_each_candidate() -> None:
    model = make_nano(tokenizer(), 64, 2).eval()
    batch = pack(GROUPS, model.config.vocab_size, pad=0)
    hidden = model.base_model(input_ids=batch.ids, position_ids=batch.positions, attention_mask=batch.mask).last_hidden_state
    read, last = hidden[batch.row, batch.column], hidden[batch.last_row, batch.last_column]
    candidate, at = 0, 0
    for packed in GROUPS:
        for ids in packed.candidates:
            row = torch.tensor([packed.prompt + ids])
            alone = model.base_model(input_ids=row).last_hidden_state[0]
            start = len(packed.prompt)
            assert batch.targets[at : at + len(ids)].tolist() == list(ids)
            assert batch.candidate[at : at + len(ids)].tolist() == [candidate] * len(ids)
            torch.testing.assert_close(read[at : at + len(ids)], alone[start - 1 : -1], atol=1e-5, rtol=0)
            torch.testing.assert_close(last[candidate], alone[-1], atol=1e-5, rtol=0)
            candidate, at = candidate + 1, at + len(ids)
    assert at == len(batch.targets) == 10 and candidate == len(batch.last_row) == 5


@torch.no_grad()
def test_candidates_that_are_the_same_stand_in_the_row_once_and_are_read_as_often_as_they_come() -> None:
    model = make_nano(tokenizer(), 64, 2).eval()
    twice, once = group((1, 2, 3), (4, 5), (6,), (4, 5), (6,)), group((1, 2, 3), (4, 5), (6,))
    batch, plain = pack([twice], model.config.vocab_size, pad=0), pack([once], model.config.vocab_size, pad=0)
    assert (
        torch.equal(batch.ids, plain.ids) and torch.equal(batch.mask, plain.mask) and torch.equal(batch.positions, plain.positions)
    )
    assert batch.targets.tolist() == [4, 5, 6, 4, 5, 6] and batch.candidate.tolist() == [0, 0, 1, 2, 2, 3]
    assert batch.column.tolist() == plain.column.tolist() * 2 and batch.last_column.tolist() == plain.last_column.tolist() * 2


@torch.no_grad()
def test_right_padding_changes_nothing() -> None:
    model = make_nano(tokenizer(), 64, 2).eval()
    rows = [Example((5, 0, 7), (2,), ((),)), Example(tuple(range(9)), (8,), ((),))]
    batch = collate(rows, model.config.vocab_size, pad=0)
    both = model(input_ids=batch.ids, attention_mask=batch.mask).logits
    for number, row in enumerate(rows):
        alone = model(input_ids=torch.tensor([row.ids])).logits[0]
        torch.testing.assert_close(both[number, : len(row.ids)], alone, atol=1e-5, rtol=0)


def test_batches_are_of_like_length_and_the_same_for_a_seed() -> None:
    lengths = [(number * 7) % 32 for number in range(32)]
    first = list(islice(bucketed(lengths, 4, seed=1), 16))
    assert first == list(islice(bucketed(lengths, 4, seed=1), 16))
    assert first != list(islice(bucketed(lengths, 4, seed=2), 16))
    for epoch in (first[:8], first[8:]):
        assert sorted(number for batch in epoch for number in batch) == list(range(32)), "each example once an epoch"
    assert first[:8] != first[8:]
    assert all(max(lengths[n] for n in batch) - min(lengths[n] for n in batch) == 3 for batch in first)


def test_fewer_examples_than_a_batch_are_refused() -> None:
    with pytest.raises(DataError, match="3 examples do not fill one batch of 4"):
        next(bucketed([1, 2, 3], 4, 0))
