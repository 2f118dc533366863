// What is said of a loop by what its rounds do (same_work_in_a_loop, checks_on_gpu), in recordings without Python frames, but
// where rounds train.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// An operator of 10 us; with `waits` it waits for the GPU, too, and with a grid it launches a kernel of 2 us.
struct Op {
  std::string name;
  int grid = 64;  // 0: it launches nothing
  bool waits = false;
};

// `trains`: inside a Python frame, and each round ends with a step of an optimizer.
std::string recording(int rounds, const std::function<std::vector<Op>(int)>& round, bool trains = false) {
  std::string all;
  int at = 10, id = 0;
  const auto add = [&](const std::string& text) { all += (all.empty() ? "" : ",") + text; };
  for (int r = 0; r < rounds; ++r) {
    for (const Op& op : round(r)) {
      const auto us = [&](int after) { return std::to_string(at + after); };
      add(slice(op.name, us(0), "10"));
      const std::string args = R"(, "args": {"correlation": )" + std::to_string(++id);
      if (op.grid > 0) {
        add(slice("cudaLaunchKernel", us(1), "2", args + "}", "cuda_runtime"));
        add(slice(
            "k", us(6), "2",
            args + R"(, "device": 0, "stream": 7, "grid": [)" + std::to_string(op.grid) + R"(, 1, 1], "block": [64, 1, 1]})",
            "kernel", "70"));
      }
      if (op.waits) add(slice("cudaStreamSynchronize", us(5), "4", "", "cuda_runtime"));
      at += 20;
    }
    if (trains) add(slice("Optimizer.step#SGD.step", std::to_string(at), "10", "", "user_annotation")), at += 20;
  }
  if (trains) add(slice("train.py(5): epoch", "5", std::to_string(at), "", "python_function"));
  return events(all);
}

// What is said of the loop, and the line of code; "-": there is none.
std::string said_of(const std::string& text) {
  const Diagnosed d(load_text(text));
  const std::vector<const Finding*> found = d.findings("same_work_in_a_loop");
  if (found.empty()) return "-";
  return found[0]->summary + found[0]->code;
}

bool names(const std::string& code, const std::string& what) { return code.find(what) != code.npos; }

}  // namespace

TEST_CASE("a loop over experts is recognized by the tokens that each picks and puts back") {
  const auto round = [](bool puts_back) {
    return [puts_back](int) {
      std::vector<Op> ops = {{"aten::eq"}, {"aten::nonzero_numpy", 64, true}, {"aten::linear"}, {"aten::gelu"}};
      if (puts_back) ops.push_back({"aten::index_add_"});
      return ops;
    };
  };
  CHECK(names(said_of(recording(12, round(true))), "tokens_by_expert"));
  CHECK(said_of(recording(12, round(false))) == "-");  // layers that look for places
  CHECK(said_of(recording(6, round(true))) == "-");
}

TEST_CASE("a cell written by hand is distinguished from layers by its gates") {
  CHECK(names(said_of(recording(20,
                                [](int) {
                                  return std::vector<Op>{{"aten::linear"}, {"aten::sigmoid"}, {"aten::tanh"}, {"aten::mul"}};
                                })),
              "torch.nn.LSTM"));
  CHECK(said_of(recording(20, [](int) {
          return std::vector<Op>{{"aten::linear"}, {"aten::relu"}, {"aten::tanh"}, {"aten::mul"}};
        })) == "-");
}

TEST_CASE("masks in a loop that is no model's are looked up together") {
  const auto round = [](int) { return std::vector<Op>{{"aten::eq"}, {"aten::lt"}, {"aten::index", 64, true}, {"aten::sum"}}; };
  CHECK(names(said_of(recording(16, round)), "torch.where"));
}

TEST_CASE("rows that are sampled one by one, and boxes that are chosen one by one, have a remedy of their own") {
  const auto sample = [](int) {
    return std::vector<Op>{
        {"aten::softmax"}, {"aten::sort"}, {"aten::index_put_", 64, true}, {"aten::multinomial"}, {"aten::item", 0, true}};
  };
  CHECK(names(said_of(recording(16, sample)), "tokens = torch.multinomial"));
  const auto choose = [](int) {
    return std::vector<Op>{{"aten::item", 0, true}, {"aten::maximum"}, {"aten::le"}, {"aten::index", 64, true}};
  };
  CHECK(names(said_of(recording(16, choose)), "values = values.cpu()"));
}

TEST_CASE("values that are computed and read row by row are read once, layers that are checked are none") {
  const auto score = [](int) {
    return std::vector<Op>{{"aten::index"}, {"aten::softmax"}, {"aten::max"}, {"aten::item", 0, true}};
  };
  CHECK(names(said_of(recording(16, score)), ".tolist()  # of all rows"));
  const auto check = [](int) {
    return std::vector<Op>{{"aten::convolution"}, {"aten::isnan"}, {"aten::any"}, {"aten::item", 0, true}};
  };
  CHECK(said_of(recording(16, check)) == "-");
}

TEST_CASE("calls of PyTorch's own cells in a loop are a layer's, with a backward pass of as many rounds") {
  const auto round = [](int) { return std::vector<Op>{{"aten::lstm_cell"}, {"aten::linear"}, {"aten::relu"}}; };
  CHECK(names(said_of(recording(20, round)), "torch.nn.LSTM"));
}

TEST_CASE("updates of many tensors are one call, steps of the same tensor are not") {
  const auto round = [](bool differ) {
    return [differ](int r) {
      const int grid = differ ? 32 + 8 * (r % 5) : 32;
      return std::vector<Op>{{"aten::mul", grid}, {"aten::mul", grid}, {"aten::add", grid}, {"aten::copy_", grid}};
    };
  };
  CHECK(names(said_of(recording(80, round(true))), "_foreach_"));
  CHECK(names(said_of(recording(80, round(false))), "torch.vmap(function)"));
}

TEST_CASE("rounds that each end with a step of an optimizer are small batches") {
  const auto round = [](int) { return std::vector<Op>{{"aten::linear"}, {"aten::relu"}, {"aten::mse_loss"}}; };
  CHECK(names(said_of(recording(12, round, true)), "batch_size = 12 * batch_size"));
  CHECK(said_of(recording(12, round)) == "-");
}

TEST_CASE("rounds with an if in them are a loop, and rounds that have little in common are none") {
  const std::string said = said_of(recording(96, [](int r) {
    std::vector<Op> ops = {{"aten::div"}, {"aten::pad"}, {"aten::mul"}, {"aten::mean"}, {"aten::clamp"}};
    if ((static_cast<unsigned>(r) * 2654435761u >> 28) % 3 == 0) ops.insert(ops.begin() + 1, {"aten::flip"});
    return ops;
  }));
  CHECK(names(said, "torch.vmap(function)"));
  CHECK(names(said, "Nearly the same "));
  CHECK(said_of(recording(96, [](int r) {
          std::vector<Op> ops = {{"aten::div"}};
          for (int i = 0; i < 5; ++i) ops.push_back({"op" + std::to_string(r * 5 + i)});
          return ops;
        })) == "-");
}

TEST_CASE("a loop in a loop is recognized by loops of the same length, equally far apart") {
  const auto round = [](int between) {
    return [between](int r) {
      std::vector<Op> ops;
      for (int i = 0; i < 70; ++i) ops.insert(ops.end(), {{"aten::add"}, {"aten::exp"}, {"aten::sum"}});
      for (int i = 0; i < 1 + r * between; ++i) ops.push_back({"aten::stack"});
      return ops;
    };
  };
  const std::string said = said_of(recording(10, round(0)));
  CHECK(names(said, "10 of these loops in a row are the inner loop of another one."));
  CHECK(names(said, "x.unsqueeze(1)"));
  CHECK(names(said_of(recording(10, round(1))), "torch.vmap(function)"));
}

TEST_CASE("an if on a mask is no check for NaN") {
  const auto round = [](const char* first) {
    return [first](int) { return std::vector<Op>{{"aten::sub"}, {first}, {"aten::any"}, {"aten::is_nonzero", 0, true}}; };
  };
  CHECK(Diagnosed(load_text(recording(12, round("aten::isnan")))).fires("checks_on_gpu"));
  CHECK_FALSE(Diagnosed(load_text(recording(12, round("aten::lt")))).fires("checks_on_gpu"));
}
