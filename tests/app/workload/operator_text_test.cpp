#include "app/workload/operator_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace gapscope::workload;

TEST_CASE("an operator's message is its name, a space, and its inputs as PyTorch writes them") {
  const OperatorInput square = tensor_input({64, 64}, Dtype::kBf16);
  CHECK(operator_text("aten::mm", {square, square}) ==
        R"(aten::mm {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::BFloat16", "c10::BFloat16"]})");
}

TEST_CASE("inputs that are no tensors have no dimensions, and an absent one has no type") {
  CHECK(operator_text("aten::as_strided", {tensor_input({3}, Dtype::kFp16), list_input(), scalar_input(), absent_input()}) ==
        R"(aten::as_strided {"Input Dims": [[3], [], [], []], "Input type": ["c10::Half", "ScalarList", "Scalar", ""]})");
}

TEST_CASE("what follows the first space is JSON with a type for each of the inputs, even when the name has none to offer") {
  for (const std::vector<OperatorInput>& inputs :
       {std::vector<OperatorInput>{}, {absent_input()}, {tensor_input({2, 3, 4}, Dtype::kTf32), scalar_input()}}) {
    const std::string text = operator_text("aten::x", inputs);
    const auto json = nlohmann::json::parse(text.substr(text.find(' ') + 1));
    REQUIRE(json["Input Dims"].size() == inputs.size());
    REQUIRE(json["Input type"].size() == inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(json["Input Dims"][i].get<Shape>() == inputs[i].dims);
      CHECK(json["Input type"][i].get<std::string>() == inputs[i].type);
    }
  }
}

TEST_CASE("float and TF32 are the same type to PyTorch, of four bytes; the others have two") {
  CHECK(torch_type_name(Dtype::kFp32) == "float");
  CHECK(torch_type_name(Dtype::kTf32) == "float");
  CHECK(bytes_of(Dtype::kTf32) == 4);
  CHECK(bytes_of(Dtype::kBf16) == 2);
  CHECK(bytes_of(Dtype::kFp16) == 2);
  CHECK(element_count({2, 3, 4}) == 24);
}
