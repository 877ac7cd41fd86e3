use crate::tensor_type::TensorType;
pub(crate) fn from_name(name: &[u8]) -> Option<TensorType> {
    Some(match name {
        b"F32" => TensorType::F32,
        b"I64" => TensorType::I64,
        b"F16" => TensorType::F16,
        b"U8" => TensorType::I8,
        _ => return None,
    })
}
