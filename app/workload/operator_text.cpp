#include "app/workload/operator_text.h"

namespace gapscope::workload {
namespace {

void append_dims(std::string& text, const Shape& dims) {
  text += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  text += ']';
}

void append_type(std::string& text, std::string_view type) {
  text += '"';
  text += type;
  text += '"';
}

}  // namespace

OperatorInput tensor_input(const Shape& shape, Dtype dtype) { return {shape, torch_type_name(dtype)}; }

std::string operator_text(std::string_view name, const std::vector<OperatorInput>& inputs) {
  std::string dims;
  std::string types;
  for (const OperatorInput& input : inputs) {
    if (!dims.empty()) dims += ", ";
    if (!types.empty()) types += ", ";
    append_dims(dims, input.dims);
    append_type(types, input.type);
  }
  return std::string(name) + " {\"Input Dims\": [" + dims + "], \"Input type\": [" + types + "]}";
}

}  // namespace gapscope::workload
