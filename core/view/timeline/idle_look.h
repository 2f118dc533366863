#pragma once
// How the parts of a GPU's time look: a colour and a hatch each, so that none is known by its hue alone, and a word. The
// colours are those of Okabe and Ito, which are distinguished with any colour vision (Color Universal Design,
// https://jfly.uni-koeln.de/color/).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/view/timeline/hatch.h"
#include "core/view/timeline/rgb.h"

namespace gapscope {

struct IdleLook {
  Rgb rgb;
  Hatch hatch;
};
// `light`: on a light background the same hues are darker.
IdleLook look_of(IdleCause cause, bool light);
// "host", which represents all of the host's own parts, "data loading": as short as a label needs.
std::string_view idle_label(IdleCause cause);

// A part of the account, as a bar shows it.
struct AccountPart {
  enum class Kind : std::uint8_t { compute, communication, copies, idle } kind = Kind::idle;
  IdleCause cause = IdleCause::op;  // of an idle part
  Ns time = 0;
};
// Those with time: work first, then idle time by cause in the order of the enum.
std::vector<AccountPart> parts_of(const AccountTimes& times);
// The three largest, the host's own parts as one: "host 84 %, compute 8.6 %, not begun 4.0 %".
std::string largest_words(const AccountTimes& times, ProgramKind program);
// "compute", "exposed communication", "host: operators".
std::string part_words(const AccountPart& part, ProgramKind program);

}  // namespace gapscope
