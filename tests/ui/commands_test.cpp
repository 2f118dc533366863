#include "ui/commands.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <utility>

using namespace gapscope;

TEST_CASE("every command is in the table once, with title, help and something to do") {
  std::set<CommandId> ids;
  for (const Command& c : commands()) {
    CHECK_MESSAGE(ids.insert(c.id).second, c.title);
    CHECK(std::strlen(c.title) > 0);
    CHECK(std::strlen(c.help) > 0);
    CHECK(c.help[std::strlen(c.help) - 1] == '.');
    CHECK((c.run != nullptr));
  }
  CHECK(ids.size() == static_cast<std::size_t>(CommandId::count_));
}

TEST_CASE("no two commands have the same chord, and each chord finds its command") {
  std::set<std::pair<Key, unsigned char>> chords;
  for (const Command& c : commands()) {
    for (const Chord& chord : c.chords) {
      if (chord.key == Key::none) continue;
      CHECK_MESSAGE(chords.insert({chord.key, chord.mods}).second, c.title);
      CHECK(command_for(chord) == &c);
    }
  }
}

TEST_CASE("chords are written as people say them") {
  CHECK(chord_text({Key::o, kCtrl}) == "Ctrl+O");
  CHECK(chord_text({Key::p, kCtrl | kShift}) == "Ctrl+Shift+P");
  CHECK(chord_text({Key::question}) == "?");
  CHECK(chord_text({}).empty());
  CHECK(chords_text(command(CommandId::help)) == "? or F1");
}

TEST_CASE("without a document only what makes sense is enabled") {
  ViewState view;
  Requests out;
  CommandScope scope{nullptr, view, out};
  CHECK(is_enabled(command(CommandId::open_file), scope));
  CHECK_FALSE(is_enabled(command(CommandId::zoom_in), scope));
  for (const Command& c : commands()) run_command(c.id, scope);  // none may touch what is not there
}
