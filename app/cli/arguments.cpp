#include "app/cli/arguments.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/in_and_out.h"
#include "app/cli/time_argument.h"
#include "core/analyze/gpu/devices.h"
#include "core/base/text.h"
#include "core/diagnose/diagnose.h"
#include "core/load/load_trace.h"
#include "core/replay/plain_program.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr double kMostRate = 1e18;  // of bytes or operations a second

std::string digits(std::int64_t number) { return format_count(number); }
std::string digits(double number) {
  const bool whole = std::floor(number) == number && std::fabs(number) < 9e18;
  return whole ? format_count(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

template <class Number>
CLI::Validator validator(const char* what, Number least, Number most) {
  const std::string range = fmt::format("{} to {}", digits(least), digits(most));
  const auto trouble_of = [=](std::string& text) -> std::string {
    Number number = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole_text = trouble == std::errc() && end == text.data() + text.size();
    if (is_whole_text && number >= least && number <= most) return {};  // nan is neither
    return fmt::format("\"{}\" is not a {} from {}.", text, what, range);
  };
  return {trouble_of, range};
}

// "FROM_NS:TO_NS".
std::optional<Span> parse_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto number = [](std::string_view digits, Ns& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  Span span;
  const bool ok =
      number(std::string_view(text).substr(0, colon), span.begin) && number(std::string_view(text).substr(colon + 1), span.end);
  return ok && span.begin < span.end ? std::optional(span) : std::nullopt;
}

}  // namespace

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

void add_capture(CLI::App& arguments) {
  arguments
      .add_option("--capture", trace_arguments().capture,
                  "the recording, or a folder of them, in which the CUDA graphs of TRACE were captured: their kernels get its "
                  "operators, "
                  "modules and Python lines; default: look in the folder of TRACE")
      ->type_name("FILE");
}

void add_trace(CLI::App& arguments, std::string& trace) {
  arguments.add_option("TRACE", trace, "the trace; - for standard input")->required();
  add_capture(arguments);
  add_steps(arguments);
}

void add_roofs(CLI::App& arguments) {
  StatedRoofs& roofs = trace_arguments().stated.roofs;
  arguments
      .add_option_function<std::vector<std::string>>(
          "--peak",
          [&roofs](const std::vector<std::string>& peaks) {
            for (const std::string& peak : peaks)
              if (!read_peak(peak, roofs))
                throw CLI::ValidationError("--peak",
                                           "\"" + peak + "\" is not a peak: write bf16=989e12, in operations a second.");
          },
          "a dense peak rate of the GPU, in operations per second: bf16=989e12; also fp64, fp32, tf32, fp16, fp8")
      ->type_name("TYPE=N");
  arguments.add_option("--bandwidth", roofs.bandwidth, "the peak bandwidth of the GPU's memory, in bytes per second: 4.8e12")
      ->check(number_between(1, kMostRate))
      ->type_name("N");
}

namespace {

// By a recording whose profiler cost less.
StepTime step_time_by(const std::string& path) {
  const Result<std::shared_ptr<const Trace>> trace = load_trace(path, load_options());
  if (!trace.ok()) throw CLI::ValidationError("--times", trace.error().message);
  const TraceSession session(*trace);
  const Headline& headline = headline_of(session);
  if (!headline.plain || headline.plain->steps == 0)
    throw CLI::ValidationError("--times", "no step without the profiler follows from \"" + printable(path) +
                                              "\": it needs steps, operators and GPU work.");
  StepTime out(headline.plain->step);
  out.low = headline.plain->low, out.high = headline.plain->high;
  out.source = PlainSource::other_recording;
  return out;
}

}  // namespace

void add_plain(CLI::App& arguments, bool with_step) {
  auto* recorded = arguments.add_flag_callback(
      "--as-recorded", [] {}, "judge the recording with the cost of its profiler, not the program without it");
  if (!with_step) {
    arguments.parse_complete_callback([recorded] { trace_arguments().stated.as_recorded = recorded->count() > 0; });
    return;
  }
  arguments
      .add_option_function<std::string>(
          "--step-time",
          [](const std::string& text) {
            const std::optional<Ns> step = parse_time_argument(text, 0);
            if (!step || *step <= 0)
              throw CLI::ValidationError("--step-time", "\"" + text + "\" is not a time: write 35ms (ns, us, ms, s).");
            trace_arguments().stated.step_time = *step;
          },
          "the step time measured without a profiler: 35ms (ns, us, ms, s)")
      ->type_name("T")
      ->excludes(recorded);
  auto times = std::make_shared<std::string>();
  arguments.add_option("--times", *times, "a recording of the same program without stacks and shapes: it gives the step time")
      ->type_name("FILE")
      ->excludes(recorded)
      ->excludes("--step-time");
  arguments.parse_complete_callback([recorded, times] {
    Stated& stated = trace_arguments().stated;
    stated.as_recorded = recorded->count() > 0;
    if (!times->empty()) stated.step_time = step_time_by(*times);
  });
}

void add_sources(CLI::App& arguments, std::vector<std::string>& lines) {
  arguments
      .add_option_function<std::vector<std::string>>(
          "--sources",
          [&lines](const std::vector<std::string>& given) {
            for (const std::string& text : given) {
              std::error_code trouble;
              const std::size_t at = std::filesystem::exists(text, trouble) ? text.npos : text.find('=');
              const std::string folder = at == text.npos ? text : text.substr(at + 1);
              const std::filesystem::path here = std::filesystem::canonical(folder, trouble);
              if (trouble || !std::filesystem::is_directory(here, trouble))
                throw CLI::ValidationError("--sources", "\"" + folder + "\" is not a folder.");
              lines.push_back((at == text.npos ? "" : text.substr(0, at)) + "=" + here.string());
            }
          },
          "show lines of source files below this folder; RECORDED=DIR: the folder was RECORDED when the trace was made; may be "
          "repeated; default: read no source")
      ->allow_extra_args(false)  // what follows is the trace
      ->type_name("DIR");
}

void add_range(CLI::App& arguments, std::optional<Span>& range, const char* about) {
  arguments
      .add_option_function<std::string>(
          "--range",
          [&range](const std::string& text) {
            range = parse_range(text);
            if (!range)
              throw CLI::ValidationError("--range",
                                         "\"" + text + "\" is not a range: write FROM_NS:TO_NS, as `gapscope info` counts.");
          },
          about)
      ->type_name("FROM_NS:TO_NS");
}

CLI::Validator number_between(double least, double most) { return validator("number", least, most); }
CLI::Validator whole_number(std::int64_t least, std::int64_t most) { return validator("whole number", least, most); }

}  // namespace gapscope
