#include "core/session/recording.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/analyze/modules/region_frames.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

std::string_view plain(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') json = json.substr(1, json.size() - 2);
  return json;
}

// The value of a key of a JSON object's text: up to what ends a number or a short string.
std::string_view value_in(std::string_view object, std::string_view key) {
  const std::size_t at = object.find(fmt::format("\"{}\"", key));
  if (at == std::string_view::npos) return {};
  const std::size_t begin = object.find_first_not_of(" :\t\n\r", at + key.size() + 2);
  if (begin == std::string_view::npos) return {};
  const bool is_text = object[begin] == '"';
  const std::size_t end = is_text ? object.find('"', begin + 1) : object.find_first_of(",}] \n", begin);
  if (end == std::string_view::npos) return {};
  return object.substr(begin + (is_text ? 1 : 0), end - begin - (is_text ? 1 : 0));
}

std::int64_t number_in(std::string_view object, std::string_view key) {
  const std::string_view text = value_in(object, key);
  std::int64_t number = -1;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
  return trouble == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

void add_software(const Trace& trace, RecordingFacts& out) {
  const Header& header = trace.header;
  const auto add = [&](const char* title, std::string value) {
    if (!value.empty()) out.software.emplace_back(title, std::move(value));
  };
  add("CUDA driver", cuda_version_text(header.find("cuda_driver_version")));
  add("CUDA runtime", cuda_version_text(header.find("cuda_runtime_version")));
  add("HIP driver", std::string(plain(header.find("hip_driver_version"))));
  add("HIP runtime", std::string(plain(header.find("hip_runtime_version"))));
  add("CUPTI", std::string(plain(header.find("cupti_version"))));
  const std::string_view distributed = header.find("distributedInfo");
  add("NCCL", std::string(value_in(distributed, "nccl_version")));
  add("backend", std::string(value_in(distributed, "backend")));
  add("trace schema", std::string(plain(header.find("schemaVersion"))));
  add("command", std::string(plain(header.find("command"))));
  out.rank = rank_of(header).rank;
  out.world_size = rank_of(header).world_size;
  if (plain(header.find("recorder")) == "gapscope")
    out.recorder = "gapscope record";
  else if (!trace.producer->is_pytorch)
    out.recorder = trace.producer->title;
  else if (!header.find("schemaVersion").empty())
    out.recorder = "torch.profiler";
  for (const char* option : {"record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops"})
    if (header.flag(option)) out.options.emplace_back(option);
}

// Of other profilers: in their words.
void add_missing_of_producer(const TraceSession& session, std::vector<MissingPart>& out) {
  const Trace& trace = session.trace();
  const Producer& by = *trace.producer;
  if (session.usage().devices.empty()) out.push_back({"gpu", by.no_gpu_work, by.gpu_work});
  if (!trace.has(Kind::op) && !trace.has(Kind::python) && trace.calls.empty())
    out.push_back({"operators", "The host was not recorded, so the launches of the GPU work are unknown.", by.host});
  if (!session.steps().annotated)
    out.push_back({"steps", "No steps are marked. The whole recording counts as one step.", by.steps});
}

constexpr std::string_view kLaterRange = "--range or --delay to gapscope record, or iterations before the first step";

// Of a program that gapscope record sees: what PyTorch alone could add is not missing.
void add_missing_of_other(const TraceSession& session, std::vector<MissingPart>& out) {
  if (session.usage().devices.empty())
    out.push_back({"gpu", "No GPU work was recorded, so the GPU cannot be judged.", "a part of the program that uses it"});
  const Steps& steps = session.steps();
  if (!steps.annotated)
    out.push_back({"steps", "No steps are marked. The whole recording counts as one step.", session.trace().producer->steps});
  else if (!steps.steps.empty() && steps.steps.front().name == "ProfilerStep#0")
    out.push_back({"warm_up", "The recording includes the first step of the program, with its start-up costs.", kLaterRange});
}

// "with_stack=True, with_modules=True": whether the recording was made with all of them.
bool is_asked_for(const Header& header, std::string_view how) {
  constexpr std::string_view kTrue = "=True";
  std::size_t asked = 0;
  for (std::size_t at = 0; at < how.size();) {
    const std::size_t end = std::min(how.find(", ", at), how.size());
    const std::string_view option = how.substr(at, end - at);
    if (!option.ends_with(kTrue) || !header.flag(std::string(option.substr(0, option.size() - kTrue.size())))) return false;
    ++asked;
    at = std::min(end + 2, how.size());
  }
  return asked > 0;
}

void add_missing(const TraceSession& session, std::vector<MissingPart>& out) {
  const Trace& trace = session.trace();
  const bool has_ops = trace.has(Kind::op), has_gpu = !session.usage().devices.empty();
  const bool has_frames = trace.has(Kind::python);
  // Its annotations, Python's frames or calls show that an activity was recorded.
  const bool of_cpu = has_ops || has_frames || trace.has(Kind::annotation), of_gpu = has_gpu || !trace.calls.empty();
  const bool is_crop = crop_mark(trace).has_value();  // how the whole was recorded it does not say
  const auto add = [&](bool is_missing, MissingPart part) {
    if (!is_missing) return;
    if (is_crop || is_asked_for(trace.header, part.how)) part.how = {};
    out.push_back(part);
  };
  const std::string_view both = trace.producer->gpu_work;
  add(!has_gpu, {"gpu", "No GPU work was recorded, so the GPU cannot be judged.", of_gpu ? "" : both});
  add(!has_ops, {"operators", "No operators were recorded, so kernels have no Python names.", of_cpu ? "" : both});
  add(!session.steps().annotated,
      {"steps", is_crop ? kNoWholeStep : "No call marks the end of each iteration. The whole recording counts as one step.",
       trace.producer->steps});
  add(session.steps().annotated && !session.steps().steps.empty() && session.steps().steps.front().name == "ProfilerStep#0",
      {"warm_up", "The recording includes the first step of the program, with its start-up costs.",
       by_torch_profiler(trace) ? "schedule=torch.profiler.schedule(wait=1, warmup=1, active=5)" : kLaterRange});
  add(has_ops && !session.has_shapes(),
      {"shapes", "No input shapes were recorded, so operations, rates and shares of the peak are unknown.",
       "record_shapes=True"});
  add(has_ops && !has_frames,
      {"stacks", "No Python frames were recorded, so host time outside operators has no names.", "with_stack=True"});
  add(has_ops && region_frames(trace, RegionKind::modules).empty(),
      {"modules", "No nn.Module frames were recorded, so time by module is unknown.", "with_stack=True, with_modules=True"});
  add(has_ops && trace.memory.empty(),
      {"memory", "Memory was not recorded, so peak memory is unknown.", "profile_memory=True"});
}

}  // namespace

RankOfRun rank_of(const Header& header) {
  const std::string_view distributed = header.find("distributedInfo");
  return {number_in(distributed, "rank"), number_in(distributed, "world_size")};
}

std::string cuda_version_text(std::string_view json) {
  const std::string_view text = plain(json);
  int version = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (trouble != std::errc() || end != text.data() + text.size() || version < 1000) return std::string(text);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

RecordingFacts recording_facts(const TraceSession& session) {
  const Trace& trace = session.trace();
  RecordingFacts out;
  out.program = program_kind(trace);
  add_software(trace, out);
  if (!trace.producer->is_pytorch)
    add_missing_of_producer(session, out.missing);
  else if (out.program == ProgramKind::python)
    add_missing(session, out.missing);
  else
    add_missing_of_other(session, out.missing);
  return out;
}

}  // namespace gapscope
