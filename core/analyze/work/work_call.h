#pragma once
// A call of an operator as the file shows it: sizes, types and values of its arguments. What its work is worked out from.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

using Sizes = std::vector<double>;

double elements(const Sizes& sizes);  // 1 of a scalar

// Bytes of one element of PyTorch's word for a type ("c10::BFloat16"); 0 of what is no tensor ("Scalar", "ScalarList", "").
double bytes_of_type(std::string_view type);
// Of a code of c10::ScalarType as Concrete Inputs hold it ("15"); 0 where it is none.
double bytes_of_type_code(std::string_view code);

struct WorkArgument {
  Sizes sizes;              // of a tensor; empty of a scalar and of what is no tensor
  std::vector<Sizes> list;  // of a list of tensors; PyTorch writes none of lists of more than 30
  std::string type;         // "Input type"
  std::string value;        // of "Concrete Inputs": "[1, 1]", "True"; empty where not recorded
  bool is_tensor() const { return bytes_of_type(type) > 0; }
  bool is_list() const { return type == "TensorList" || !list.empty(); }
  double count() const { return elements(sizes); }
  double bytes() const { return is_tensor() ? count() * bytes_of_type(type) : 0; }
};

struct WorkCall {
  std::string_view op;
  std::vector<WorkArgument> arguments;
  bool has_values = false;                // Concrete Inputs were read
  std::string_view kernel;                // name of its longest kernel; empty where none
  double grid_x = 0, grid_y = 0;          // blocks of that kernel
  std::vector<std::string_view> kernels;  // names of all of them, where its model asks for kernels
  std::string_view annotation;            // around it: a serving engine says there what a step holds
  std::string_view collective;            // JSON members that state a collective (OpRow::collective_args)
  Sizes result;                           // of a convolution, where another call of the recording shows it; else empty
  bool weight_gradient = true, input_gradient = true;  // what its kernels work out, where no output mask is recorded
  double list_elements = 0;                            // of each list whose sizes PyTorch left out, where known
  std::vector<Sizes> made;  // tensors that it makes on the way, by the values of aten::empty directly inside

  std::size_t size() const { return arguments.size(); }
  const Sizes& sizes(std::size_t i) const;
  const WorkArgument& at(std::size_t i) const;       // an empty one past the end
  std::vector<double> numbers(std::size_t i) const;  // of a value: "[2, 2]", "2"; empty where it is none
  std::optional<bool> flag(std::size_t i) const;     // of a value: "True"
  std::vector<bool> flags(std::size_t i) const;      // "[False, True]"
};

// The texts are JSON as the file has it; `concrete_inputs` may be empty. None where the dims are no list.
std::optional<WorkCall> parse_call(std::string_view op, std::string_view input_dims, std::string_view input_types,
                                   std::string_view concrete_inputs);

}  // namespace gapscope
