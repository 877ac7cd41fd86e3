//! Prints what a model in flash is: its tensors as they are described, then what they add up to.

#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use weightstream::summary::{Heads, Summary};
use weightstream::{Decoder, Event, Name, TensorInfo};
use weightstream_firmware::board::{self, entry};
use weightstream_firmware::console::Console;
use weightstream_firmware::failure::Failure;
use weightstream_firmware::sample::MODEL;

// All zero: they take no flash.
static DECODER: ConstStaticCell<Decoder> = ConstStaticCell::new(Decoder::new([]));
static SUMMARY: ConstStaticCell<Summary> = ConstStaticCell::new(Summary::new());

#[entry]
fn main() -> ! {
    board::run(inspect)
}

fn inspect(out: &mut Console) -> Result<(), Failure> {
    let decoder = DECODER.try_take().ok_or(Failure::Taken)?;
    let summary = SUMMARY.try_take().ok_or(Failure::Taken)?;
    let mut input = MODEL;
    while let Some(event) = decoder.decode(&mut input)? {
        let is_wanted = summary.accept(&event);
        match event {
            Event::Header(header) => out.text("GGUF version ").decimal(header.version.into()).end_line(),
            Event::Tensor { name, info } => print_tensor(name, info, out),
            Event::DataStart(start) => {
                out.text("data offset: ").decimal(start.offset).end_line();
                break;
            }
            _ => {}
        }
        if !is_wanted {
            decoder.skip_value();
        }
    }
    print_summary(summary, out);
    Ok(())
}

fn print_tensor(name: Name<'_>, info: &TensorInfo, out: &mut Console) {
    out.decimal(info.index().into()).text(" ").text(name.prefix()).text(" ");
    out.text(info.tensor_type().name().unwrap_or("?"));
    for dim in info.dims() {
        out.text(" ").decimal(*dim);
    }
    out.text(", ").decimal(info.byte_len().unwrap_or(0)).text(" bytes at ").decimal(info.data_offset());
    out.end_line();
}

fn print_summary(summary: &Summary, out: &mut Console) {
    let texts = [("architecture", summary.architecture()), ("name", summary.name())];
    for (what, shown) in texts {
        out.text(what).text(": ").text(shown.map_or("?", |shown| shown.text())).end_line();
    }
    let file_type = summary.file_type().and_then(|kind| kind.name());
    out.text("file type: ").text(file_type.unwrap_or("?")).end_line();
    let heads = summary.heads().map(|heads| match heads {
        Heads::PerLayer(layers) => layers,
        Heads::Every(heads) => heads,
        _ => 0,
    });
    let numbers = [
        ("layers", summary.layers()),
        ("context length", summary.context_length()),
        ("embedding length", summary.embedding_length()),
        ("heads", heads),
        ("vocabulary", summary.vocabulary()),
    ];
    for (what, number) in numbers {
        out.text(what).text(": ").decimal(number.unwrap_or(0)).end_line();
    }
    out.text("chat template: ").text(if summary.has_chat_template() { "yes" } else { "no" }).end_line();
    let weights = summary.weights();
    out.text("weights: ").decimal(weights.tensors).text(" tensors, ").decimal(weights.elements);
    out.text(" elements, ").decimal(weights.bytes).text(" bytes").end_line();
}
