#pragma once
// What the details panel says about one slice, as plain lines: made from the document and the slice's args, which
// another thread reads from the file (that may take a while, so the model also says "not yet" and "could not").
// A value that the file does not hold is "not recorded" or left out; it is never shown as 0.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/load/args.h"
#include "core/view/details/breadcrumb.h"
#include "core/view/details/kernel_command.h"
#include "core/view/details/source_lines.h"

namespace gapscope {

struct Document;

struct SliceArgs {
  SliceId slice;  // whose
  std::vector<Arg> args{};
  std::string error{};  // a sentence; empty: they were read
};

// Reads the args of a slice from the file.
struct ArgsQuestion {
  using Answer = SliceArgs;
  static constexpr const char* kToDo = "read the args";
  SliceId slice;
  friend bool operator==(const ArgsQuestion&, const ArgsQuestion&) = default;
};
std::shared_ptr<const SliceArgs> answer(const Document& document, const ArgsQuestion& question,
                                        const std::atomic<bool>* cancel);

struct DetailsLine {
  std::string key;
  std::string value;  // for reading; may hold line breaks
  std::string hover;  // the exact figure or an explanation; often empty
  SliceId target;     // a click on the value selects this slice
  enum class Look { text, number, absent } look = Look::text;
};

struct DetailsSection {
  std::string title;
  std::string note;  // a sentence instead of, or before, the lines
  std::vector<DetailsLine> lines;
  std::string code = {};        // to be copied: a command
  std::string code_hover = {};  // what it takes; set before the command is known, too
  std::shared_ptr<const SourceLines> source = {};
};

struct DetailsCrumb {
  std::string name;
  SliceId slice;
};

struct DetailsModel {
  SliceId slice;
  std::string name;          // demangled, whole
  std::string name_in_file;  // only where it differs from `name`
  Kind kind = Kind::other;
  std::vector<DetailsCrumb> path;         // from the outermost ancestor to the parent
  std::vector<Breadcrumb> crumbs;         // from the process to the slice, and to the kernel that it launched
  std::vector<DetailsSection> sections;   // what is asked most comes first: a kernel's resources, then time, then args
  std::string frame;                      // source_frame() of the slice
  std::shared_ptr<const SliceArgs> args;  // as it was given, and so these
  std::shared_ptr<const KernelCommand> command;
  std::shared_ptr<const SourceLines> source;
};

// At most this many launched slices are listed; the rest is counted. A graph launch can have thousands.
constexpr std::size_t kDetailsMaxLaunched = 24;

// Up to this many parents are shown as a path alone; a deeper chain is also a section of its own.
constexpr std::size_t kDetailsMaxPath = 8;

// `args`, `command` and `source` may be null or belong to another slice: then they count as not there yet.
DetailsModel make_details(const Document& doc, SliceId slice, std::shared_ptr<const SliceArgs> args,
                          std::shared_ptr<const KernelCommand> command = nullptr,
                          std::shared_ptr<const SourceLines> source = nullptr);

}  // namespace gapscope
