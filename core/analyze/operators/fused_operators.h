#pragma once
// The operators in the names that PyTorch's Inductor gives its kernels.
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

// "add_mul_native_layer_norm" comes apart where it was joined: "add", "mul", "native_layer_norm". Operators whose names hold
// underscores are known by a list; any other word represents itself.
std::vector<std::string> operators_in(std::string_view list);

}  // namespace gapscope
