#include "core/base/phrase.h"

#include "core/base/text.h"

namespace gapscope {

std::string counted(std::uint64_t count, std::string_view noun) {
  std::string words = format_count(static_cast<std::int64_t>(count)) + " " + std::string(noun);
  if (count == 1) return words;
  if (const std::size_t of = noun.find(" of "); of != noun.npos)
    return counted(count, noun.substr(0, of)) + std::string(noun.substr(of));
  if (noun.ends_with("launch") || noun.ends_with("pass")) return words + "es";
  if (noun.ends_with("copy")) return words.replace(words.size() - 1, 1, "ies");
  return words + "s";
}

std::string format_part(Ns part, Ns whole, std::string_view of_nothing) {
  if (whole <= 0) return std::string(of_nothing);
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return part < whole && share >= 0.9995 ? ">99.9 %" : format_percent(share);
}

}  // namespace gapscope
