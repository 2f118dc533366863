// Rules about tensors that are larger than what is computed from them: differences of all pairs, matrices of a diagonal; and
// about the workers of a DataLoader that start anew.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Operators one after the other, each with one kernel of 200 us.
struct Operators {
  std::string text;
  int at = 10, id = 0;

  Operators& then(const std::string& name, const std::string& dims = "", int sequence = -1, int gpu_us = 200) {
    std::string args;
    if (!dims.empty()) args = R"("Input Dims": [)" + dims + "]";
    if (sequence >= 0) args += (args.empty() ? "" : ", ") + fmt::format(R"("Sequence number": {})", sequence);
    add(slice(name, std::to_string(at), "50", args.empty() ? "" : R"(, "args": {)" + args + "}"));
    if (gpu_us > 0) {
      const std::string of = fmt::format(R"(, "args": {{"correlation": {})", ++id);
      add(slice("cudaLaunchKernel", std::to_string(at + 10), "5", of + "}", "cuda_runtime"));
      add(slice("k_" + name.substr(name.rfind(':') + 1), std::to_string(at + 20), std::to_string(gpu_us),
                of + R"(, "device": 0, "stream": 7})", "kernel", "70"));
    }
    at += 300;
    return *this;
  }
  void add(const std::string& one) { text += (text.empty() ? "" : ",") + one; }
  Diagnosed diagnosed() const { return Diagnosed(load_text(events(text))); }
};

Operators distances(const std::string& a, const std::string& b, const std::string& reduces) {
  Operators out;
  out.then("aten::linear").then("aten::sub", a + ", " + b, 5).then("aten::pow", "", 6).then(reduces, "", 7);
  return out.then("autograd::engine::evaluate_function: PowBackward0", "", 6);
}

}  // namespace

TEST_CASE("differences of all pairs are found by their sizes, with their backward pass") {
  const Diagnosed d = distances("[1, 64, 8]", "[64, 1, 8]", "aten::sum").diagnosed();
  REQUIRE(d.fires("pairwise_differences"));
  CHECK(d.findings("pairwise_differences")[0]->stake == 4 * 200 * kNsPerUs);
  CHECK_FALSE(distances("[1, 64, 8]", "[64, 64, 8]", "aten::sum").diagnosed().fires("pairwise_differences"));  // a bias
  CHECK_FALSE(distances("[1, 64, 8]", "[64, 1, 8]", "aten::exp").diagnosed().fires("pairwise_differences"));
}

TEST_CASE("without sizes the two new axes right before show differences of all pairs") {
  const auto of = [](const std::string& second) {
    Operators out;
    out.then("aten::unsqueeze", "", -1, 0).then(second, "", -1, 0);
    return out.then("aten::sub").then("aten::square").then("aten::mean").diagnosed();
  };
  CHECK(of("aten::unsqueeze").fires("pairwise_differences"));
  CHECK_FALSE(of("aten::slice").fires("pairwise_differences"));
}

TEST_CASE("cosines of all pairs are a product, found by the sizes, with the backward pass of what is in them") {
  const auto of = [](const std::string& sizes) {
    Operators out;
    out.then("aten::linear").then("aten::cosine_similarity", sizes);
    out.add(slice("aten::mul", std::to_string(out.at - 295), "20", R"(, "args": {"Sequence number": 9})"));
    return out.then("autograd::engine::evaluate_function: MulBackward0", "", 9).diagnosed();
  };
  const Diagnosed d = of("[64, 1, 8], [1, 64, 8]");
  REQUIRE(d.fires("pairwise_differences"));
  CHECK(d.findings("pairwise_differences")[0]->stake == 2 * 200 * kNsPerUs);
  CHECK(d.findings("pairwise_differences")[0]->code.starts_with("similarity = F.normalize("));
  CHECK_FALSE(of("[64, 8], [64, 8]").fires("pairwise_differences"));
}

TEST_CASE("products with a matrix that was just made from its diagonal are found") {
  const auto of = [](const std::string& first) {
    Operators out;
    return out.then(first).then("aten::matmul").then("aten::matmul").then("aten::relu").diagnosed();
  };
  const Diagnosed d = of("aten::diag_embed");
  REQUIRE(d.fires("products_with_diagonals"));
  CHECK(d.findings("products_with_diagonals")[0]->stake == 3 * 200 * kNsPerUs);
  CHECK_FALSE(of("aten::tril").fires("products_with_diagonals"));
}

TEST_CASE("workers restart where a stretch without calls precedes a fetch, also behind what sums up the epoch") {
  const auto epochs = [](int fork_us, int launches) {
    Operators out;
    const std::string fetch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    const auto fetches = [&](int us) {
      out.add(slice(fetch, std::to_string(out.at), std::to_string(us), "", "user_annotation"));
      out.at += us + 10;
    };
    for (int epoch = 0; epoch < 3; ++epoch) {
      out.at += fork_us;
      fetches(5000);
      for (int batch = 0; batch < 4; ++batch) {
        for (int i = 0; i < 12; ++i) out.then("aten::linear");
        fetches(batch == 3 ? 2000 : 50);  // the last ends the epoch
      }
      for (int i = 0; i < launches; ++i) out.then("aten::sum");
    }
    return out.diagnosed();
  };
  const Diagnosed d = epochs(20'000, 1);
  REQUIRE(d.fires("workers_started_anew"));
  CHECK(d.findings("workers_started_anew")[0]->summary.starts_with("Twice an epoch"));
  CHECK_FALSE(epochs(1000, 1).fires("workers_started_anew"));
  CHECK_FALSE(epochs(20'000, 12).fires("workers_started_anew"));  // a pause of the program
}

TEST_CASE("64-bit convolutions have 64-bit weights: the model is to be made 32-bit, else its data") {
  const auto code = [](const std::string& kernel) {
    Operators out;
    out.then("aten::linear", "", -1, 10);
    out.add(slice("cudaLaunchKernel", "400", "5", R"(, "args": {"correlation": 9})", "cuda_runtime"));
    out.add(slice(kernel, "410", "500", R"(, "args": {"correlation": 9, "device": 0, "stream": 7})", "kernel", "70"));
    const Diagnosed d = out.diagnosed();
    REQUIRE(d.fires("double_precision_work"));
    return d.findings("double_precision_work")[0]->code;
  };
  CHECK(code("void cudnn::detail::dgrad_engine<256, 6, 5, 3, 3, 3, false>(int, double const*)")
            .starts_with("model = model.float()"));
  CHECK(
      code("void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add<double> >(int)").starts_with("x = "));
}

TEST_CASE("comparisons with every class that are summed are a count") {
  const auto of = [](const std::string& second, const std::string& joined, const std::string& type) {
    Operators out;
    const auto then = [&](const std::string& name, const std::string& dims, const std::string& types) {
      out.then(name, dims + R"(], "Input type": [)" + types);
    };
    then("aten::eq", "[64], [100, 1]", type);
    if (!second.empty()) then("aten::eq", "[64], " + second, type), then("aten::__and__", joined, R"("bool", "bool")");
    then("aten::sum", second.empty() ? "[100, 64], []" : "[100, 100, 64], []", R"("bool", "Scalar")");
    return out.diagnosed();
  };
  const std::string ints = R"("long int", "long int")";
  const Diagnosed pairs = of("[100, 1, 1]", "[100, 64], [100, 1, 64]", ints);
  REQUIRE(pairs.fires("counts_by_comparing"));
  CHECK(pairs.findings("counts_by_comparing")[0]->stake == 4 * 200 * kNsPerUs);
  CHECK(pairs.findings("counts_by_comparing")[0]->code.find("a * n + b") != std::string::npos);
  const Diagnosed one = of("", "", ints);
  REQUIRE(one.fires("counts_by_comparing"));
  CHECK(one.findings("counts_by_comparing")[0]->code == "count = torch.bincount(a, minlength=n)");
  CHECK_FALSE(of("", "", R"("float", "float")").fires("counts_by_comparing"));
}

TEST_CASE("a backward pass is repeated where a function comes again, unless it is differentiated itself") {
  // Two passes through the functions 2 and 1, each with a loss of its own.
  const auto passes = [](bool to_parameters, int number_inside) {
    Operators out;
    for (int i = 1; i <= 4; ++i) out.then("aten::linear", "", i);
    const std::string node = "autograd::engine::evaluate_function: ";
    for (const int loss : {3, 4}) {
      out.then(node + "LossBackward0", "", loss);
      if (number_inside >= 0)
        out.add(slice("aten::mul", std::to_string(out.at - 295), "3",
                      fmt::format(R"(, "args": {{"Sequence number": {}}})", number_inside)));
      for (const int layer : {2, 1}) out.then(node + "AddmmBackward0", "", layer);
      if (to_parameters) out.then(node + "torch::autograd::AccumulateGrad", "", -1, 0);
    }
    return out.diagnosed();
  };
  const Diagnosed d = passes(true, -1);
  REQUIRE(d.fires("repeated_backward"));
  CHECK(d.findings("repeated_backward")[0]->code == "sum(losses).backward()");
  CHECK(d.findings("repeated_backward")[0]->summary.starts_with("Once a backward pass"));
  const Diagnosed of_outputs = passes(false, -1);  // torch.autograd.grad
  REQUIRE(of_outputs.fires("repeated_backward"));
  CHECK(of_outputs.findings("repeated_backward")[0]->code.find("is_grads_batched") != std::string::npos);
  CHECK_FALSE(passes(true, 9).fires("repeated_backward"));  // create_graph=True
}

TEST_CASE("of gradients that are differentiated again, passes through the very same functions are one call's") {
  const auto gradients = [](int passes) {
    Operators out;
    for (int i = 1; i <= 3; ++i) out.then("aten::linear", "", i);
    const std::string node = "autograd::engine::evaluate_function: ";
    for (int p = 0; p < passes; ++p)
      for (const int layer : {3, 2, 1}) {
        out.then(node + "TanhBackward0", "", layer);
        out.add(slice("aten::tanh_backward", std::to_string(out.at - 295), "3",
                      fmt::format(R"(, "args": {{"Sequence number": {}}})", 100 + 10 * p + layer)));
      }
    for (int p = passes; p-- > 0;)
      for (const int layer : {3, 2, 1}) out.then(node + "TanhBackwardBackward0", "", 100 + 10 * p + layer);
    return out.diagnosed();
  };
  const Diagnosed d = gradients(3);
  REQUIRE(d.fires("repeated_backward"));
  const Finding& finding = *d.findings("repeated_backward")[0];
  CHECK(finding.summary.starts_with("Twice a backward pass ran through exactly the functions"));
  CHECK(finding.code.find("torch.autograd.grad(u, (x, y, t)") != std::string::npos);
  CHECK(finding.summary.find("1.60 ms on the host") != std::string::npos);  // two passes, and six functions that they made
  CHECK_FALSE(gradients(1).fires("repeated_backward"));
}
