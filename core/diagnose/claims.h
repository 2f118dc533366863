#pragma once
// Whose time it is: every finding claims the time of the account that its cause answers for, and no moment has two owners.
// A finding most of whose time another one owns already is part of that one: its evidence, with no cost of its own.
#include <vector>

#include "core/diagnose/diagnose.h"

namespace gapscope {

class DeviceTime;

// Sets cost, severity, led_by, merged and overlap of findings as the rules gave them. A cost is at
// most what the rule said and what its cause owns on the busiest device: idle time, exposed copies, or the time of kernels. A
// finding whose time is a small part of the window is no costly one, and a problem that owns no time of it is a note. In a
// trace without an account (`time` null) costs stay as the rules gave them. The order afterwards: severity, then cost.
void assign_time(const Facts& facts, const DeviceTime* time, std::vector<RankedFinding>& findings);

}  // namespace gapscope
