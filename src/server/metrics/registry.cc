#include "server/metrics/registry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "api/go/go_text.h"

namespace berth::server {
namespace {

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (quotes && c == '"') {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void AppendValue(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    out += api::FormatGoFloat(value);
  }
}

std::string WithLabel(const std::string& labels, std::string_view name, std::string_view value) {
  std::string all = labels;
  if (!all.empty()) all += ',';
  AppendLabel(all, name, value);
  return all;
}

}  // namespace

Histogram::Histogram(const std::vector<double>& bounds)
    : bounds_(&bounds), counts_(new std::atomic<uint64_t>[bounds.size() + 1]) {
  Reset();
}

size_t Histogram::BucketOf(double value) const {
  return static_cast<size_t>(std::lower_bound(bounds_->begin(), bounds_->end(), value) -
                             bounds_->begin());
}

void Histogram::FindBucket(double value) {
  const std::vector<double>& bounds = *bounds_;
  const size_t at = BucketOf(value);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  above_ = at == 0 ? -kInfinity : bounds[at - 1];
  upto_ = at == bounds.size() ? kInfinity : bounds[at];
  last_ = &counts_[at];
}

void Histogram::Observe(double value) {
  counts_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::Reset() {
  for (size_t i = 0; i <= bounds_->size(); ++i) counts_[i].store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
}

Family::Family(FamilyOptions options)
    : options_(std::move(options)), allowed_(options_.labels.size()) {
  by_name_.resize(options_.labels.size());
  for (size_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
  std::sort(by_name_.begin(), by_name_.end(),
            [&](size_t a, size_t b) { return options_.labels[a] < options_.labels[b]; });
}

size_t Family::Resolve(const std::vector<std::string_view>& values, bool* is_new) {
  std::vector<std::string> sorted;
  sorted.reserve(by_name_.size());
  for (const size_t position : by_name_) {
    std::string_view value = position < values.size() ? values[position] : std::string_view();
    const auto& allowed = allowed_[position];
    if (!allowed.empty() && !allowed.contains(value)) value = "unexpected";
    sorted.emplace_back(value);
  }
  const auto [it, inserted] = series_.try_emplace(std::move(sorted), printed_.size());
  *is_new = inserted;
  if (inserted) {
    std::string labels;
    for (size_t i = 0; i < by_name_.size(); ++i) {
      if (i > 0) labels += ',';
      AppendLabel(labels, options_.labels[by_name_[i]], it->first[i]);
    }
    printed_.push_back(std::move(labels));
  }
  return it->second;
}

void Family::AppendText(std::string& out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!shown_ || series_.empty()) return;
  AppendHead(out, options_.name, AnnotatedHelp(options_.stability, options_.help), Type());
  for (const auto& [values, at] : series_) AppendSeries(out, at, printed_[at]);
}

void Family::Describe(const FamilyDescription& as) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_.help = as.help;
  options_.stability = as.stability;
  shown_ = as.shown;
}

std::optional<Stability> Family::Standing() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!shown_) return std::nullopt;
  return options_.stability;
}

void Family::ForgetSeries() {
  series_.clear();
  printed_.clear();
}

template <>
std::string_view CounterFamily::Type() const {
  return "counter";
}
template <>
std::string_view GaugeFamily::Type() const {
  return "gauge";
}
template <>
std::string_view HistogramFamily::Type() const {
  return "histogram";
}

template <>
void CounterFamily::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!HasLabels()) return;
  for (Counter& counter : held_) counter.Reset();
}
template <>
void GaugeFamily::Reset() {}
template <>
void HistogramFamily::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!HasLabels()) return;
  for (Histogram& histogram : held_) histogram.Reset();
}

template <>
void CounterFamily::AppendSeries(std::string& out, size_t series, const std::string& labels) {
  AppendSample(out, Name(), "", labels, held_[series].Value());
}
template <>
void GaugeFamily::AppendSeries(std::string& out, size_t series, const std::string& labels) {
  AppendSample(out, Name(), "", labels, held_[series].Value());
}
template <>
void HistogramFamily::AppendSeries(std::string& out, size_t series, const std::string& labels) {
  const Histogram& histogram = held_[series];
  uint64_t total = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    total += histogram.InBucket(i);
    AppendSample(out, Name(), "_bucket", WithLabel(labels, "le", api::FormatGoFloat(bounds_[i])),
                 static_cast<double>(total));
  }
  total += histogram.InBucket(bounds_.size());
  AppendSample(out, Name(), "_bucket", WithLabel(labels, "le", "+Inf"), static_cast<double>(total));
  AppendSample(out, Name(), "_sum", labels, histogram.Sum());
  AppendSample(out, Name(), "_count", labels, static_cast<double>(total));
}

template <class F>
F& Registry::Add(FamilyOptions options, std::vector<double> bounds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = families_.find(options.name);
  if (it != families_.end()) {
    if (auto* same = dynamic_cast<F*>(it->second.get())) return *same;
  }
  const std::string name = options.name;
  auto family = std::make_unique<F>(std::move(options), std::move(bounds));
  for (size_t i = 0; i < family->options_.labels.size(); ++i) {
    const auto allowed = options_.allowed_labels.find(name + "," + family->options_.labels[i]);
    if (allowed == options_.allowed_labels.end()) continue;
    family->allowed_[i].insert(allowed->second.begin(), allowed->second.end());
  }
  F& added = *family;
  families_[name] = std::move(family);
  return added;
}

CounterFamily& Registry::AddCounter(FamilyOptions options) {
  return Add<CounterFamily>(std::move(options), {});
}
GaugeFamily& Registry::AddGauge(FamilyOptions options) {
  return Add<GaugeFamily>(std::move(options), {});
}
HistogramFamily& Registry::AddHistogram(FamilyOptions options, std::vector<double> bounds) {
  return Add<HistogramFamily>(std::move(options), std::move(bounds));
}

void Registry::OnCollect(std::function<void()> collect) {
  const std::lock_guard<std::mutex> lock(mutex_);
  collectors_.push_back(std::move(collect));
}

std::string Registry::WriteText() {
  std::vector<std::function<void()>> collectors;
  std::vector<Family*> families;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    collectors = collectors_;
  }
  for (const auto& collect : collectors) collect();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, family] : families_) {
      if (!options_.disabled.contains(name)) families.push_back(family.get());
    }
  }
  std::string out;
  for (Family* family : families) family->AppendText(out);
  return out;
}

size_t Registry::Families(Stability stability) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(
      std::count_if(families_.begin(), families_.end(),
                    [&](const auto& family) { return family.second->Standing() == stability; }));
}

size_t Registry::DisabledFamilies() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(
      std::count_if(families_.begin(), families_.end(),
                    [&](const auto& family) { return options_.disabled.contains(family.first); }));
}

void Registry::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [name, family] : families_) family->Reset();
}

std::vector<double> ExponentialBuckets(double start, double factor, size_t count) {
  std::vector<double> bounds(count);
  for (double& bound : bounds) {
    bound = start;
    start *= factor;
  }
  return bounds;
}

void AppendSample(std::string& out, std::string_view name, std::string_view suffix,
                  std::string_view labels, double value) {
  out += name;
  out += suffix;
  if (!labels.empty()) {
    out += '{';
    out += labels;
    out += '}';
  }
  out += ' ';
  AppendValue(out, value);
  out += '\n';
}

void AppendLabel(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  AppendEscaped(out, value, true);
  out += '"';
}

void AppendHead(std::string& out, std::string_view name, std::string_view help,
                std::string_view type) {
  out += "# HELP ";
  out += name;
  out += ' ';
  AppendEscaped(out, help, false);
  out += "\n# TYPE ";
  out += name;
  out += ' ';
  out += type;
  out += '\n';
}

std::string AnnotatedHelp(Stability stability, std::string_view help) {
  constexpr std::string_view kNames[] = {"", "[ALPHA] ", "[BETA] ", "[STABLE] "};
  return std::string(kNames[static_cast<size_t>(stability)]).append(help);
}

}  // namespace berth::server
