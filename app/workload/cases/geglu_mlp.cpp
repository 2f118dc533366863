// down(gelu(gate(x)) * up(x)): the GeGLU block of a transformer. With --train a backward pass from a fixed gradient of
// the result, and plain SGD.
#include <cmath>
#include <string>

#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"
#include "app/workload/gpu/ranges.h"

namespace gapscope::workload {
namespace {

constexpr std::int64_t kGrowth = 4;    // hidden columns for each column of the input
constexpr std::int64_t kTokens = 128;  // rows of one element of the batch
constexpr double kRate = 0.01;

struct Layer {
  Layer(std::string layer_name, std::int64_t in, std::int64_t out, Dtype dtype, unsigned layer_seed)
      : name(std::move(layer_name)),
        seed(layer_seed),
        weight({out, in}, dtype),
        bias({out}, dtype),
        weight_gradient({out, in}, dtype),
        bias_gradient({out}, dtype) {
    reset();
  }

  void reset() {
    const double amplitude = 1 / std::sqrt(static_cast<double>(weight.columns()));
    upload(random_matrix(weight.shape(), seed, amplitude), weight);
    upload(random_matrix(bias.shape(), seed + 1, amplitude), bias);
  }

  void learn(Device& device) {
    aten::sgd(device, weight_gradient, kRate, weight);
    aten::sgd(device, bias_gradient, kRate, bias);
  }

  std::string name;
  unsigned seed;
  Tensor weight, bias, weight_gradient, bias_gradient;
};

// What the CPU finds for one layer.
struct LayerReference {
  explicit LayerReference(const Layer& layer) : weight(download(layer.weight)), bias(download(layer.bias)) {}

  Matrix forward(const Matrix& x) const { return sum_with_row(product(x, transposed(weight)), bias); }
  void backward(const Matrix& gradient, const Matrix& x) {
    weight_gradient = product(transposed(gradient), x);
    bias_gradient = column_sums(gradient);
  }

  Matrix weight, bias, weight_gradient, bias_gradient;
};

class GegluMlp : public Case {
 public:
  explicit GegluMlp(const Options& options)
      : trains_(options.train),
        x_(random_tensor({options.batch, kTokens, options.size}, options.dtype, 1)),
        gate_("gate", options.size, kGrowth * options.size, options.dtype, 10),
        up_("up", options.size, kGrowth * options.size, options.dtype, 20),
        down_("down", kGrowth * options.size, options.size, options.dtype, 30),
        gated_(hidden(options)),
        activated_(hidden(options)),
        raised_(hidden(options)),
        multiplied_(hidden(options)),
        out_(x_.shape(), options.dtype),
        multiplied_gradient_(hidden(options)),
        activated_gradient_(hidden(options)),
        raised_gradient_(hidden(options)),
        gated_gradient_(hidden(options)),
        out_gradient_(random_tensor(x_.shape(), options.dtype, 2)) {}

  void step(Device& device) override {
    forward(device);
    if (!trains_) return;
    backward(device);
    const Annotation range("Optimizer.step#SGD.step");
    for (Layer* layer : {&gate_, &up_, &down_}) layer->learn(device);
  }

  std::vector<Comparison> compare(Device& device) override {
    if (trains_) {  // from known parameters, which every step changes
      for (Layer* layer : {&gate_, &up_, &down_}) layer->reset();
    }
    LayerReference gate(gate_), up(up_), down(down_);
    if (trains_) step(device);

    const Matrix x = download(x_);
    const Matrix gated = gate.forward(x), activated = gelu(gated), raised = up.forward(x);
    const Matrix multiplied = elementwise_product(activated, raised);
    std::vector<Comparison> found{{"the block's result", download(out_), down.forward(multiplied), {4, multiplied.columns}}};
    if (!trains_) return found;

    const Matrix out_gradient = download(out_gradient_);
    const Matrix multiplied_gradient = product(out_gradient, down.weight);
    down.backward(out_gradient, multiplied);
    up.backward(elementwise_product(multiplied_gradient, activated), x);
    gate.backward(gelu_backward(elementwise_product(multiplied_gradient, raised), gated), x);
    compare_layer(gate_, gate, found);
    compare_layer(up_, up, found);
    compare_layer(down_, down, found);
    return found;
  }

 private:
  static Tensor hidden(const Options& options) {
    return Tensor({options.batch, kTokens, kGrowth * options.size}, options.dtype);
  }

  void forward(Device& device) {
    aten::linear(device, x_, gate_.weight, gate_.bias, gated_);
    aten::gelu(device, gated_, activated_);
    aten::linear(device, x_, up_.weight, up_.bias, raised_);
    aten::mul(device, activated_, raised_, multiplied_);
    aten::linear(device, multiplied_, down_.weight, down_.bias, out_);
  }

  void backward(Device& device) {
    aten::linear_backward(device, out_gradient_, multiplied_, down_.weight, gradients(down_, &multiplied_gradient_));
    aten::mul_backward(device, multiplied_gradient_, activated_, raised_, activated_gradient_, raised_gradient_);
    aten::linear_backward(device, raised_gradient_, x_, up_.weight, gradients(up_, nullptr));
    aten::gelu_backward(device, activated_gradient_, gated_, gated_gradient_);
    aten::linear_backward(device, gated_gradient_, x_, gate_.weight, gradients(gate_, nullptr));
  }

  static aten::LinearGradients gradients(Layer& layer, Tensor* input) {
    return {layer.weight_gradient, layer.bias_gradient, input};
  }

  void compare_layer(const Layer& layer, const LayerReference& want, std::vector<Comparison>& found) const {
    const Rounding of_gradient{8, x_.rows()};   // four stores on the way forward, as many on the way back
    const Rounding of_parameter{2, x_.rows()};  // its own; the gradient's errors shrink with the rate
    const auto add = [&](const char* what, const Tensor& got, Matrix wanted, const Rounding& rounding) {
      found.push_back({layer.name + what, download(got), std::move(wanted), rounding});
    };
    add("'s weight gradient", layer.weight_gradient, want.weight_gradient, of_gradient);
    add("'s bias gradient", layer.bias_gradient, want.bias_gradient, of_gradient);
    add("'s weight", layer.weight, sgd_step(want.weight, want.weight_gradient, kRate), of_parameter);
    add("'s bias", layer.bias, sgd_step(want.bias, want.bias_gradient, kRate), of_parameter);
  }

  bool trains_;
  Tensor x_;
  Layer gate_, up_, down_;
  Tensor gated_, activated_, raised_, multiplied_, out_;
  Tensor multiplied_gradient_, activated_gradient_, raised_gradient_, gated_gradient_, out_gradient_;
};

}  // namespace

std::unique_ptr<Case> make_geglu_mlp(const Options& options) { return std::make_unique<GegluMlp>(options); }

}  // namespace gapscope::workload
