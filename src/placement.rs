//! Recorded tensors, once all are known: refuses twins and overlaps, and puts them in the order of their data.

use crate::carry::as_u64;
use crate::directory::{TensorSlot, heap_sort, swap};
use crate::error::Fault;

/// What is wrong, and the index of the tensor that it is told of.
pub(crate) type Refused = (Fault, u32);

/// Two tensors of one name: the later one is refused. Sorts by name.
pub(crate) fn refuse_duplicates(slots: &mut [TensorSlot]) -> Result<(), Refused> {
    heap_sort(slots, |a, b| (a.name_hash(), a.index()) < (b.name_hash(), b.index()));
    let twins = |(first, second): (&TensorSlot, &TensorSlot)| {
        (first.name_hash() == second.name_hash())
            .then(|| (Fault::duplicate_tensor(u64::from(first.index())), second.index()))
    };
    neighbours(slots).find_map(twins).map_or(Ok(()), Err)
}

/// Among tensors in any order, one of unknown type ends where the next one starts, whichever that is: so all must be
/// recorded.
pub(crate) fn refuse_unknown_lengths(slots: &[TensorSlot], tensors: u32) -> Result<(), Refused> {
    let unknown = slots.iter().filter(|slot| slot.byte_len().is_none()).map(TensorSlot::index).min();
    match unknown {
        Some(index) if as_u64(slots.len()) < u64::from(tensors) => Err((Fault::length_unknown(), index)),
        _ => Ok(()),
    }
}

/// Makes offsets absolute, sorts by them, and gives each tensor of unknown type the length up to the next one.
pub(crate) fn place(slots: &mut [TensorSlot], start: u64, end: u64) {
    for slot in slots.iter_mut() {
        slot.set_offset(slot.offset().saturating_add(start));
    }
    let before =
        |a: &TensorSlot, b: &TensorSlot| (a.offset(), a.end(), a.index()) < (b.offset(), b.end(), b.index());
    if HAS_FLASH_TO_SPARE {
        // Most files describe their tensors in the order of the data, which is had in less time than by sorting.
        to_order_of_file(slots);
    }
    if !(HAS_FLASH_TO_SPARE && slots.is_sorted_by(before)) {
        heap_sort(slots, before);
    }
    let mut next = end;
    for slot in slots.iter_mut().rev() {
        if slot.byte_len().is_none() && next != TensorSlot::OPEN {
            slot.set_bytes(next.saturating_sub(slot.offset()));
        }
        next = slot.offset();
    }
}

/// Whether a short way may be there beside one that always leads to the same.
const HAS_FLASH_TO_SPARE: bool = cfg!(target_pointer_width = "64");

/// Puts the slots where their indices say, as far as these are places: in a swap for each at most.
fn to_order_of_file(slots: &mut [TensorSlot]) {
    let mut swaps = slots.len();
    for place in 0..slots.len() {
        while let Some(home) = slots.get(place).and_then(|slot| usize::try_from(slot.index()).ok())
            && home != place
            && home < slots.len()
            && swaps > 0
        {
            swap(slots, place, home);
            swaps = swaps.saturating_sub(1);
        }
    }
}

/// Two tensors that share bytes: the one described later is refused. The slots are sorted by offset.
pub(crate) fn refuse_overlaps(slots: &[TensorSlot]) -> Result<(), Refused> {
    let mut before: Option<&TensorSlot> = None;
    for slot in slots.iter().filter(|slot| slot.byte_len() != Some(0)) {
        if let Some(before) = before.filter(|before| before.end() > slot.offset()) {
            let (first, second) = (before.index().min(slot.index()), before.index().max(slot.index()));
            return Err((Fault::overlap(u64::from(first)), second));
        }
        before = Some(slot);
    }
    Ok(())
}

/// Bytes between two tensors, or before the first, that belong to none. An empty tensor is held to lie between two others,
/// or at an end. The slots are sorted by offset, and hold every tensor.
#[cfg(feature = "safetensors")]
pub(crate) fn refuse_holes(slots: &[TensorSlot], start: u64) -> Result<(), Refused> {
    let (mut expected, mut before) = (start, 0);
    for slot in slots {
        if slot.offset() < expected {
            // An empty tensor inside of another; others were refused before.
            return Err((Fault::overlap(u64::from(slot.index().min(before))), slot.index().max(before)));
        }
        if slot.offset() > expected {
            let [data_offset, expected] =
                [slot.offset(), expected].map(|offset| offset.saturating_sub(start));
            return Err((Fault::hole(data_offset, expected), slot.index()));
        }
        (expected, before) = (slot.end(), slot.index());
    }
    Ok(())
}

fn neighbours(slots: &[TensorSlot]) -> impl Iterator<Item = (&TensorSlot, &TensorSlot)> {
    slots.iter().zip(slots.iter().skip(1))
}
