#include "app/workload/gpu/run.h"

#include <cuda_profiler_api.h>

#include <optional>
#include <vector>

#include "app/workload/cases/case.h"
#include "app/workload/failure.h"
#include "app/workload/gpu/ranges.h"
#include "app/workload/summary.h"

namespace gapscope::workload {
namespace {

// A case's step as a CUDA graph: captured once, launched as often as one likes.
class Graph {
 public:
  // Runs the step once before it captures it, as capturing allows neither allocations nor the making of handles.
  Graph(Device& device, Case& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(Device& device);

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

Graph::Graph(Device& device, Case& work) {
  work.step(device);
  device.synchronize();
  check(cudaStreamBeginCapture(device.stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  work.step(device);
  check(cudaStreamEndCapture(device.stream(), &graph_), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
}

Graph::~Graph() {
  if (executable_) cudaGraphExecDestroy(executable_);
  if (graph_) cudaGraphDestroy(graph_);
}

void Graph::launch(Device& device) { check(cudaGraphLaunch(executable_, device.stream()), "cudaGraphLaunch"); }

constexpr int kWarmupRuns = 10;

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  double ms_until(const Event& later) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, event_, later.event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// From before a step's first work on the main stream to after its last.
struct StepTimer {
  Event begin, end;
};

class Steps {
 public:
  Steps(const Options& options, Device& device)
      : options_(options),
        device_(device),
        work_(make_case(options)),
        timers_(static_cast<std::size_t>(options.schedule.active)) {}

  void prepare() {
    device_.synchronize();  // the data may still be on its way, and a stream of our own would not wait for it
    if (options_.warmup)
      for (int i = 0; i < kWarmupRuns; ++i) work_->step(device_);
    if (options_.graph) graph_.emplace(device_, *work_);
    device_.synchronize();
  }

  void run_schedule() {
    const int silent = options_.schedule.wait + options_.schedule.warmup;
    for (int i = 0; i < silent; ++i) step();
    check(cudaProfilerStart(), "cudaProfilerStart");
    for (int i = 0; i < options_.schedule.active; ++i) marked_step(silent + i, timers_[static_cast<std::size_t>(i)]);
    device_.synchronize();
    check(cudaProfilerStop(), "cudaProfilerStop");
  }

  std::vector<double> step_ms() const {
    std::vector<double> times;
    for (const StepTimer& timer : timers_) times.push_back(timer.begin.ms_until(timer.end));
    return times;
  }

  std::size_t compare() {
    const std::vector<Comparison> comparisons = work_->compare(device_);
    for (const Comparison& comparison : comparisons)
      if (const auto sentence = mismatch(comparison, options_.dtype)) throw Failure(*sentence);
    return comparisons.size();
  }

 private:
  void step() {
    const Annotation annotation{std::string(case_row(options_.id).annotation)};
    if (graph_) return graph_->launch(device_);
    work_->step(device_);
  }

  void marked_step(int number, StepTimer& timer) {
    timer.begin.record(device_.stream());
    {
      const Annotation annotation("ProfilerStep#" + std::to_string(number));
      step();
    }
    timer.end.record(device_.stream());
  }

  const Options& options_;
  Device& device_;
  std::unique_ptr<Case> work_;
  std::vector<StepTimer> timers_;
  std::optional<Graph> graph_;
};

}  // namespace

std::string run(const Options& options) {
  require_device();
  Device device(options.graph);
  Steps steps(options, device);
  steps.prepare();
  steps.run_schedule();
  const std::size_t checked = options.check ? steps.compare() : 0;
  return summary_line(options, steps.step_ms(), checked);
}

}  // namespace gapscope::workload
