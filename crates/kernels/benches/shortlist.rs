//! The output layer of a step over the columns of a shortlist, beside that over the whole vocabulary:
//! `cargo bench -p gatto-kernels --bench shortlist`. Plain is all columns, of which the same are taken.

mod beside;

use beside::{Beside, values};
use gatto_kernels::prepared::Prepared;

/// The size of W3b's output layer, and of a list.
const INPUT: usize = 512;
const OUTPUT: usize = 32_000;
const LIST: usize = 1000;

fn main() {
    let mut table = Beside::new("shortlist");
    let (weight, bias) = (values(INPUT * OUTPUT, 2), values(OUTPUT, 3));
    let ids: Vec<u32> = (0..LIST as u32).map(|place| place * (OUTPUT / LIST) as u32).collect();
    let taken = |row: &[f32]| ids.iter().map(|&id| row[id as usize]).collect::<Vec<f32>>();
    let of_list = taken(&bias);
    let forms = [
        ("float", Prepared::floats(&weight, INPUT, OUTPUT, false)),
        ("int8", Prepared::bytes(&weight, INPUT, OUTPUT, false)),
    ];
    for (form, whole) in &forms {
        let list = whole.columns(&ids);
        for rows in [1, 8, 32, 160] {
            let x = values(rows * INPUT, 1);
            let plain = || [whole.forward(&x, Some(&bias)).chunks_exact(OUTPUT).flat_map(taken).collect()];
            let size = format!("{form}, {rows} × {INPUT} → {LIST} of {OUTPUT}");
            table.compare(&size, plain, || [list.forward(&x, Some(&of_list))]);
            if rows == 1 {
                let gathered = || [whole.columns(&ids).forward(&x, Some(&of_list))];
                table.compare(&format!("{size}, gathered for it"), plain, gathered);
            }
        }
    }
    table.finish();
}
