#pragma once
// What is saved or copied for the person: a part of a trace, the overview, tables, an event; one after the other, on a thread
// of its own. Asks where to, where the desktop has a dialog for that; else it is next to the trace. Lives on the UI thread.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/action_queue.h"
#include "app/window/file_chooser.h"
#include "core/base/file_stamp.h"
#include "core/base/output_file.h"
#include "core/view/notes/notes_model.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

class Saves {
 public:
  // `tell` hears of what takes its time when it begins. The chooser must outlive it. `states`: as SessionOptions has it.
  Saves(FileChooser& chooser, std::filesystem::path states, std::function<void()> wake,
        std::function<void(const char* begun)> tell)
      : chooser_(chooser), states_(std::move(states)), actions_(std::move(wake)), tell_(std::move(tell)) {}

  // Nothing without a document. `stamp`: of its file as it was read. Of its notes those that lie in the window go along.
  void crop(std::shared_ptr<const Document> document, std::optional<FileStamp> stamp, Span window, std::vector<Note> notes);
  void html(std::shared_ptr<const Document> document, std::vector<Note> notes);
  // Next to that trace, without asking.
  void text(const std::string& trace, const SaveText& what);
  void copy_event(std::shared_ptr<const Document> document, SliceId slice);

  // The dialog was answered, or another one took its place.
  void take_place(const FileChooser::Answer& chosen);
  void ask_no_more() { asked_.reset(); }

  // What was done first, once.
  std::optional<ActionQueue::Done> take() { return actions_.take(); }
  bool is_at_work() const { return actions_.is_at_work(); }
  void request_stop() { actions_.request_stop(); }

 private:
  using Save = std::function<void(const std::string& path, IfTaken if_taken)>;
  void save_to(const std::string& path, Save save);

  FileChooser& chooser_;
  std::filesystem::path states_;
  ActionQueue actions_;
  std::function<void(const char*)> tell_;
  struct Asked {
    std::string path;
    Save save;
  };
  std::optional<Asked> asked_;  // until the chooser has answered
};

}  // namespace gapscope
