#include "core/load/arg_texts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/parallel.h"
#include "core/load/args_pass.h"

namespace gapscope {
namespace {

// What one thread found, in the order of its events.
struct Part {
  std::vector<std::string> text{""};
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> texts;
  std::optional<Error> error;

  void add(std::size_t event, std::string value) {
    const auto [at, is_new] = numbers.try_emplace(std::move(value), static_cast<std::uint32_t>(text.size()));
    if (is_new) text.push_back(at->first);
    texts[event] = at->second;
  }
};

void read_part(const TextAccess& access, std::span<const std::uint64_t> offsets, const std::string& member,
               const std::atomic<bool>* cancel, Part& part) {
  part.texts.assign(offsets.size(), ArgTexts::kNone);
  ArgsPass pass;
  pass.offsets = offsets;
  pass.cancel = cancel;
  const std::string mark = '"' + member + '"';
  pass.may_matter = [&](std::size_t, std::string_view text) { return text.find(mark) != std::string_view::npos; };
  pass.take = [&](std::size_t event, const std::vector<Arg>& args) {
    for (const Arg& arg : args)
      if (arg.key == member) part.add(event, arg.value);
    return true;
  };
  part.error = read_args_in_order(access, pass);
}

// A packed file without places to begin at is inflated by one thread alone.
std::size_t parts_of(const Trace& trace, std::size_t events, int threads) {
  constexpr std::size_t kWorthAThread = 256;
  const bool anywhere = trace.is_plain_text || trace.restart_points || trace.spilled_text;
  return anywhere ? std::clamp<std::size_t>(events / kWorthAThread, 1, static_cast<std::size_t>(std::max(threads, 1))) : 1;
}

}  // namespace

Result<ArgTexts> read_arg(const Trace& trace, std::vector<SliceId> slices, std::string_view member, int threads,
                          const std::atomic<bool>* cancel) {
  const auto offset = [&](SliceId s) { return trace.slices.offset[s.index()]; };
  std::erase_if(slices, [&](SliceId s) { return offset(s) == kNoOffset; });
  std::sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return offset(a) < offset(b); });
  slices.erase(std::unique(slices.begin(), slices.end(), [&](SliceId a, SliceId b) { return offset(a) == offset(b); }),
               slices.end());
  std::vector<std::uint64_t> offsets;
  for (const SliceId s : slices) offsets.push_back(offset(s));

  const TextAccess access(trace);
  const std::string name(member);
  std::vector<Part> parts(parts_of(trace, offsets.size(), threads));
  const auto begin_of = [&](std::size_t p) { return offsets.size() * p / parts.size(); };
  parallel_for(threads, parts.size(), [&](std::size_t p) {
    read_part(access, std::span(offsets).subspan(begin_of(p), begin_of(p + 1) - begin_of(p)), name, cancel, parts[p]);
  });

  ArgTexts out;
  std::unordered_map<std::string, std::uint32_t> numbers{{"", ArgTexts::kNone}};
  std::vector<std::pair<SliceId, std::uint32_t>> found;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].error) return *parts[p].error;
    std::vector<std::uint32_t> place;
    for (const std::string& text : parts[p].text) {
      const auto [at, is_new] = numbers.try_emplace(text, static_cast<std::uint32_t>(out.text.size()));
      if (is_new) out.text.push_back(text);
      place.push_back(at->second);
    }
    for (std::size_t i = 0; i < parts[p].texts.size(); ++i)
      found.emplace_back(slices[begin_of(p) + i], place[parts[p].texts[i]]);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [slice, text] : found) out.slices.push_back(slice), out.texts.push_back(text);
  return out;
}

std::function<ArgTexts(const Trace& trace, std::vector<SliceId> slices)> concrete_inputs(const std::atomic<bool>* cancel) {
  return [cancel](const Trace& trace, std::vector<SliceId> slices) {
    Result<ArgTexts> texts = read_arg(trace, std::move(slices), "Concrete Inputs", hardware_threads(), cancel);
    return texts.ok() ? std::move(*texts) : ArgTexts{};
  };
}

}  // namespace gapscope
