#pragma once
// A trace as text, event by event, for tests that plant what goes wrong in recordings.
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace gapscope::test {

class KinetoText {
 public:
  KinetoText& slice(std::string_view category, std::string_view name, std::string_view pid, std::string_view tid, double ts_us,
                    double dur_us, std::string_view args = "") {
    return add(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
                           category, name, pid, tid, ts_us, dur_us, args));
  }
  KinetoText& name(std::string_view what, std::string_view pid, std::string_view tid, std::string_view name) {
    return add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}","labels":"{}"}}}})", what, pid, tid,
                           name, name));
  }
  KinetoText& arrow(char phase, int id, std::string_view pid, std::string_view tid, double ts_us) {
    return add(fmt::format(R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f},"cat":"ac2g","name":"ac2g"}})", phase, id, pid,
                           tid, ts_us));
  }
  // A launch of 5 us on thread 100, and its kernel on stream 7 of GPU 0.
  KinetoText& launched(int correlation, double launch_us, double kernel_us, double dur_us, std::string_view kernel = "gemm",
                       std::string_view host = "100", std::string_view gpu = "0") {
    launch(correlation, launch_us, host);
    return slice("kernel", kernel, gpu, "7", kernel_us, dur_us,
                 fmt::format(R"("device":0,"stream":7,"correlation":{})", correlation));
  }
  KinetoText& launch(int correlation, double launch_us, std::string_view host = "100") {
    return slice("cuda_runtime", "cudaLaunchKernel", host, "1", launch_us, 5, fmt::format(R"("correlation":{})", correlation));
  }
  // The whole file; `head` is before the events: "\"schemaVersion\": 1,".
  std::string text(std::string_view head = "") const { return fmt::format("{{{}\"traceEvents\":[{}]}}", head, events_); }

 private:
  KinetoText& add(const std::string& event) {
    events_ += (events_.empty() ? "\n" : ",\n") + event;
    return *this;
  }
  std::string events_;
};

}  // namespace gapscope::test
