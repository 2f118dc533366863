#include "core/view/search/fuzzy.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gapscope {
namespace {

constexpr int kLetter = 10;
constexpr int kSideBySide = 12;  // more than kWordStart: "gem" is found in "gemm" before "g e m"
constexpr int kWordStart = 8;
constexpr int kTextStart = 4;
constexpr int kNever = -1'000'000;
constexpr int kLetterBetween = 1;  // cost of each letter passed over

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80; }

int worth(std::string_view text, std::size_t at) {
  const bool word = at == 0 || !is_letter(lower(text[at - 1]));
  return kLetter + (word ? kWordStart : 0) + (at == 0 ? kTextStart : 0);
}

}  // namespace

// best[i]: the most that the letters so far are worth with the last of them at i.
std::optional<int> fuzzy_score(std::string_view text, std::string_view letters) {
  std::vector<int> best;
  bool first = true;
  for (const char typed : letters) {
    if (typed == ' ') continue;
    std::vector<int> next(text.size(), kNever);
    int reach = first ? 0 : kNever;  // the most that a letter before i is worth, less what is between
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (lower(text[i]) == lower(typed)) {
        const int beside = !first && i > 0 && best[i - 1] > kNever / 2 ? best[i - 1] + kSideBySide : kNever;
        const int from = std::max(reach, beside);
        if (from > kNever / 2) next[i] = from + worth(text, i);
      }
      reach = std::max(reach, first ? kNever : best[i]) - kLetterBetween;
    }
    best = std::move(next);
    first = false;
  }
  if (first) return 0;
  const auto top = std::max_element(best.begin(), best.end());
  if (top == best.end() || *top <= kNever / 2) return std::nullopt;
  return *top;
}

}  // namespace gapscope
