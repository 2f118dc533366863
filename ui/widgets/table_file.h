#pragma once
// "Save CSV" of the open tab from elsewhere: a menu, the box of commands. The UI thread's own, from frame to frame.

namespace gapscope {

// Some tab drew its "Save CSV" just now.
bool shows_table();
// The next one that is drawn saves its table.
void want_table_saved();
// By the code that draws "Save CSV": whether it is wanted, once.
bool take_table_wanted();

}  // namespace gapscope
