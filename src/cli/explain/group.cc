#include "cli/explain/group.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using berth::explain::GroupView;
using term::Tone;
using term::Wrapped;

constexpr size_t kMembersShown = 20;
constexpr size_t kDomainsShown = 10;
constexpr size_t kNodesShown = 5;

std::string Plural(int64_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

class Writer {
 public:
  Writer(const GroupView& view, const GroupTextOptions& options) : view_(view), options_(options) {}

  std::string Text() {
    Headline();
    Best();
    Blockers();
    Domains();
    Members();
    Preemption();
    Help();
    return std::move(text_);
  }

 private:
  std::string In(std::string_view text, Tone tone) const {
    return term::Toned(text, tone, options_.colour);
  }
  void Heading(std::string_view text) { text_ += "\n" + In(text, Tone::kBold) + "\n"; }
  size_t Shown(size_t all, size_t few) const { return options_.all ? all : std::min(all, few); }
  void More(size_t all, size_t shown, std::string_view what) {
    if (shown < all) {
      text_ +=
          In(fmt::format("  and {} more; -o json has all {}\n", all - shown, what), Tone::kDim);
    }
  }

  void Headline() {
    const explain::GroupSummary& group = view_.group;
    const bool waits = group.state == "Waiting" || group.state == "Incomplete";
    text_ += In(Visible(group.namespace_ + "/" + group.name), Tone::kBold) + "  " +
             In(group.state, waits ? Tone::kBad : Tone::kGood) + "\n";
    std::string facts = fmt::format("{}, {} with a node", Plural(group.pods, "pod"), group.placed);
    if (group.min_count > 0) facts += fmt::format(", at least {} together", group.min_count);
    if (group.priority != 0) facts += fmt::format(", priority {}", group.priority);
    if (!group.topology.empty()) facts += ", in one " + group.topology;
    if (!group.workload.empty()) facts += ", of " + group.workload;
    text_ += Wrapped(Visible(facts), 2);
    if (group.pods < group.min_count && group.state == "Incomplete") {
      text_ += Wrapped(fmt::format("{} missing: it cannot be tried before they exist",
                                   Plural(group.min_count - group.pods, "pod")),
                       2);
    }
    if (view_.outcome.empty()) {
      if (!view_.message.empty()) text_ += Wrapped(Visible(view_.message), 2);
      return;
    }
    text_ +=
        "  now: " + In(view_.outcome, view_.outcome == "Placed" ? Tone::kGood : Tone::kBad) + "\n";
    text_ += view_.outcome == "Placed"
                 ? Wrapped("it fits, and is placed when its backoff in the queue ends", 4)
                 : Wrapped(Visible(view_.message), 4);
  }

  void Best() {
    if (view_.outcome.empty() || view_.outcome == "Placed") return;
    Heading("AT BEST");
    std::string line =
        fmt::format("{} of {} would get a node; {} needed", view_.best,
                    Plural(view_.group.pods - view_.group.placed, "waiting pod"), view_.needed);
    if (!view_.best_domain.empty()) line += ", in " + view_.best_domain;
    text_ += Wrapped(Visible(line), 2);
    std::vector<std::string> nodes;
    const size_t shown = Shown(view_.best_nodes.size(), kNodesShown);
    for (size_t i = 0; i < shown; ++i) {
      nodes.push_back(fmt::format("{} ({})", view_.best_nodes[i].node, view_.best_nodes[i].pods));
    }
    if (nodes.empty()) return;
    const bool more = shown < view_.best_nodes.size();
    text_ += Wrapped(Visible(fmt::format("on {}{}", fmt::join(nodes, ", "), more ? ", …" : "")), 4);
  }

  void Blockers() {
    if (view_.blockers.empty() || view_.outcome == "Placed") return;
    Heading("WHO DOES NOT FIT THEN, AND WHY");
    for (const explain::GroupBlocker& blocker : view_.blockers) {
      const std::string who = blocker.pods == 1
                                  ? blocker.pod
                                  : fmt::format("{} and {} more", blocker.pod, blocker.pods - 1);
      text_ += "  " + In(Visible(who), Tone::kBold) + "\n" + Wrapped(Visible(blocker.message), 4);
    }
  }

  void Domains() {
    if (view_.domains.empty()) return;
    Heading("BY " + Visible(view_.domain_key));
    term::Table table({"  DOMAIN", "NODES", "PODS THAT FIT", ""});
    table.Right(1);
    table.Right(2);
    const size_t shown = Shown(view_.domains.size(), kDomainsShown);
    for (size_t i = 0; i < shown; ++i) {
      const explain::GroupDomain& domain = view_.domains[i];
      table.Row({"  " + domain.name, std::to_string(domain.nodes), std::to_string(domain.fits),
                 domain.enough ? "enough" : ""});
    }
    text_ += table.Text(options_.colour);
    More(static_cast<size_t>(view_.domain_count), shown, "domains");
    if (view_.domains_tried < view_.domain_count) {
      text_ += In(
          fmt::format("  {} of {} domains were tried\n", view_.domains_tried, view_.domain_count),
          Tone::kDim);
    }
  }

  void Members() {
    if (view_.members.empty()) return;
    Heading("PODS");
    term::Table table({"  POD", "OUTCOME", "NODE"});
    const size_t shown = Shown(view_.members.size(), kMembersShown);
    for (size_t i = 0; i < shown; ++i) {
      const explain::GroupMember& member = view_.members[i];
      const std::string& node = member.node.empty() ? member.would_go : member.node;
      table.Row({"  " + member.name, member.outcome, node.empty() ? "-" : node});
    }
    text_ += table.Text(options_.colour);
    More(view_.members.size(), shown, "pods");
  }

  void Preemption() {
    if (view_.preemption.empty()) return;
    Heading("PREEMPTION");
    text_ += Wrapped(Visible(view_.preemption), 2);
    std::vector<std::string> victims;
    const size_t shown = Shown(view_.victims.size(), kNodesShown);
    for (size_t i = 0; i < shown; ++i) victims.push_back(view_.victims[i]);
    if (victims.empty()) return;
    const bool more = shown < view_.victims.size();
    text_ += Wrapped(
        Visible(fmt::format("evicts {}{}", fmt::join(victims, ", "), more ? ", …" : "")), 4);
  }

  void Help() {
    if (view_.outcome.empty() || view_.outcome == "Placed") return;
    Heading(fmt::format("WHAT WOULD HELP ({} tried)", view_.tried));
    if (view_.help.empty()) text_ += "  nothing that was tried\n";
    for (const explain::Suggestion& suggestion : view_.help) {
      std::string line = Wrapped(Visible(suggestion.text), 4);
      line[2] = '-';
      text_ += line;
      // Not wrapped: it is there to be pasted.
      std::string_view patch = suggestion.patch;
      while (!patch.empty()) {
        const size_t end = patch.find('\n');
        text_ += "      " + Visible(patch.substr(0, end)) + "\n";
        if (end == std::string_view::npos) break;
        patch.remove_prefix(end + 1);
      }
    }
  }

  const GroupView& view_;
  const GroupTextOptions& options_;
  std::string text_;
};

}  // namespace

std::string GroupText(const GroupView& view, const GroupTextOptions& options) {
  return Writer(view, options).Text();
}

}  // namespace berth::cli
