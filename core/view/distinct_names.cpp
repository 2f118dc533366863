#include "core/view/distinct_names.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::string_view kDots = "\xE2\x80\xA6";
constexpr std::string_view kPartEnds = ":<>,( _-";  // a part of a name begins behind one of these

std::size_t common_begin(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
                                  a.begin());
}

// How much of the beginning of each name another name has, too. Neighbours in the order of the alphabet share the most.
std::vector<std::size_t> shared_begins(const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size()), shared(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::size_t before = 0;  // of the last two different names
  for (std::size_t i = 0; i < order.size();) {
    std::size_t next = i + 1;
    while (next < order.size() && names[order[next]] == names[order[i]]) ++next;  // the same name twice is not another one
    const std::size_t after = next < order.size() ? common_begin(names[order[i]], names[order[next]]) : 0;
    for (std::size_t k = i; k < next; ++k) shared[order[k]] = std::max(before, after);
    before = after;
    i = next;
  }
  return shared;
}

std::vector<std::string> backwards(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.emplace_back(name.rbegin(), name.rend());
  return out;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// `name` is longer than `chars`; [begin, end) distinguishes it. Its first part stays: a list of ends does not say of what.
std::string cut(std::string_view name, std::size_t begin, std::size_t end, std::size_t chars) {
  // Whole parts: half a word shows nothing.
  while (begin > 0 && kPartEnds.find(name[begin - 1]) == kPartEnds.npos) --begin;
  while (end < name.size() && kPartEnds.find(name[end]) == kPartEnds.npos) ++end;
  const std::size_t first = std::min(std::min(name.find_first_of(kPartEnds), name.size()), chars / 3);
  if (begin <= first + 1) begin = 0;  // as wide as the dots after the first part
  const std::string head = begin > 0 ? std::string(name.substr(0, first)) + std::string(kDots) : std::string();
  const std::size_t room = chars - (begin > 0 ? first + 1 : 0);
  if (const std::size_t after = end < name.size() ? 1 : 0; end - begin > room - after) {
    if (begin == 0) return elide_middle(name.substr(0, end), room - after) + std::string(after > 0 ? kDots : "");
    return head + std::string(name.substr(begin, room - 1)) + std::string(kDots);  // another one from its begin on
  }
  // What is left of the room shows what is around it, the end first: it holds the types.
  end += std::min(name.size() - end, (room - (end < name.size() ? 1 : 0) - (end - begin)) / 2);
  const std::string dots(end < name.size() ? kDots : "");
  const std::size_t left = room - (end < name.size() ? 1 : 0) - (end - begin);
  if (begin <= left + first + 1) return std::string(name.substr(0, chars - 1)) + std::string(kDots);
  begin -= left;
  return head + std::string(name.substr(begin, end - begin)) + dots;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& names, std::size_t chars) {
  constexpr std::size_t kLeastChars = 8;  // fewer show nothing between two dots
  const std::vector<std::size_t> begins = shared_begins(names), ends = shared_begins(backwards(names));
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::size_t begin = std::min(begins[i], name.size());
    const std::size_t end = std::max(begin, name.size() - std::min(ends[i], name.size()));
    const bool whole = utf8_length(name) <= chars;
    const bool alone = begin == 0 && end == name.size();
    if (whole || alone || chars < kLeastChars || !is_plain(name))
      shown.push_back(elide_middle(name, chars));
    else
      shown.push_back(cut(name, std::min(begin, name.size() - 1), std::max(end, std::min(begin + 1, name.size())), chars));
  }
  return shown;
}

}  // namespace gapscope
