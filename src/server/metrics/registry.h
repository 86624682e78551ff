// Registry: counters, gauges and histograms, and their Prometheus text format.
//
// A family is a name with a help text and label names; its series hold the values. A caller
// resolves a series once (With) and keeps the pointer: counting is then one relaxed store, without
// lock or lookup. Series live as long as the registry.
//
// Threads: With and WriteText may be called from any thread. A series may be changed by any thread;
// one with a single writer may use the cheaper Own… calls. Readers never see torn values, but the
// parts of a histogram may be read at slightly different times.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace berth::server {

enum class Stability : uint8_t { kNone, kAlpha, kBeta, kStable };

class Counter {
 public:
  void Add(double by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  // REQUIRES: this is the only thread that changes the series.
  void OwnAdd(double by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  double Value() const { return value_.load(std::memory_order_relaxed); }
  void Reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void Set(double to) { value_.store(to, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  // REQUIRES: this is the only thread that changes the series.
  void OwnAdd(double by) { Set(Value() + by); }
  double Value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // `bounds` ascend and outlive the histogram; a bucket for +Inf is added.
  explicit Histogram(const std::vector<double>& bounds);

  void Observe(double value);
  // `times` equal values. REQUIRES: this is the only thread that changes the series.
  void OwnObserve(double value, uint64_t times = 1) {
    // Mostly the bucket of the previous value.
    if (!OwnFits(value)) FindBucket(value);
    OwnObserveFitting(value, times);
  }
  // Does it fall into the bucket of the previous value? REQUIRES: as OwnObserve.
  bool OwnFits(double value) const { return value > above_ && value <= upto_; }
  // REQUIRES: it does.
  void OwnObserveFitting(double value, uint64_t times = 1) {
    last_->store(last_->load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
    sum_.store(sum_.load(std::memory_order_relaxed) + value * static_cast<double>(times),
               std::memory_order_relaxed);
  }

  const std::vector<double>& Bounds() const { return *bounds_; }
  uint64_t InBucket(size_t i) const { return counts_[i].load(std::memory_order_relaxed); }
  double Sum() const { return sum_.load(std::memory_order_relaxed); }
  void Reset();

 private:
  size_t BucketOf(double value) const;
  void FindBucket(double value);

  const std::vector<double>* bounds_;
  std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // one per bound, and +Inf
  std::atomic<double> sum_{0};
  // The bucket of the last OwnObserve and its bounds. Initially empty.
  std::atomic<uint64_t>* last_ = nullptr;
  double above_ = 0;
  double upto_ = 0;
};

struct FamilyOptions {
  std::string name;
  std::string help;
  Stability stability = Stability::kNone;  // named in the help text, as Kubernetes does
  std::vector<std::string> labels = {};    // as With takes their values
};

// What of a family differs between releases of Kubernetes.
struct FamilyDescription {
  std::string_view help;
  Stability stability = Stability::kNone;
  bool shown = true;  // false: neither printed nor counted, as if it were not registered
};

using LabelValues = std::initializer_list<std::string_view>;

// Base of all families: prints their series.
class Family {
 public:
  explicit Family(FamilyOptions options);
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const std::string& Name() const { return options_.name; }
  virtual std::string_view Type() const = 0;
  // Prints nothing when there are no series. `scratch` is reused.
  void AppendText(std::string& out);
  // Resets counters and histograms with labels to zero.
  virtual void Reset() = 0;
  // From any thread. Series stay as they are.
  void Describe(const FamilyDescription& as);
  // Its stability; none while it is not shown.
  std::optional<Stability> Standing() const;

 protected:
  friend class Registry;
  // Label values in the order of the options; values that are not allowed become "unexpected".
  // Returns the position of the series, which is created if new.
  size_t Resolve(const std::vector<std::string_view>& values, bool* is_new);
  virtual void AppendSeries(std::string& out, size_t series, const std::string& labels) = 0;
  bool HasLabels() const { return !options_.labels.empty(); }
  void ForgetSeries();

  mutable std::mutex mutex_;

 private:
  FamilyOptions options_;  // Describe changes some, under the mutex
  bool shown_ = true;
  std::vector<size_t> by_name_;  // positions of labels, sorted by label name
  std::vector<std::set<std::string, std::less<>>> allowed_;  // per label; empty: anything
  // From the values, sorted by label name, to the position; and the printed labels of each.
  std::map<std::vector<std::string>, size_t> series_;
  std::vector<std::string> printed_;
};

template <class T>
class FamilyOf final : public Family {
 public:
  FamilyOf(FamilyOptions options, std::vector<double> bounds = {})
      : Family(std::move(options)), bounds_(std::move(bounds)) {
    if (!HasLabels()) With({});
  }

  T* With(LabelValues values) { return With(std::vector<std::string_view>(values)); }
  T* With(const std::vector<std::string_view>& values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool is_new = false;
    const size_t at = Resolve(values, &is_new);
    if (is_new) {
      if constexpr (std::is_same_v<T, Histogram>) {
        held_.emplace_back(bounds_);
      } else {
        held_.emplace_back();
      }
    }
    return &held_[at];
  }
  // The only series of a family without labels.
  T* Only() { return &held_[0]; }
  // REQUIRES: no result of With is in use, and the family has labels.
  void RemoveSeries() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ForgetSeries();
    held_.clear();
  }

  std::string_view Type() const override;
  void Reset() override;

 protected:
  void AppendSeries(std::string& out, size_t series, const std::string& labels) override;

 private:
  std::vector<double> bounds_;
  std::deque<T> held_;  // a deque: pointers stay valid
};

using CounterFamily = FamilyOf<Counter>;
using GaugeFamily = FamilyOf<Gauge>;
using HistogramFamily = FamilyOf<Histogram>;

struct RegistryOptions {
  std::set<std::string, std::less<>> disabled = {};  // --disabled-metrics: not printed
  // --allow-metric-labels: "metric,label" to the values allowed.
  std::map<std::string, std::vector<std::string>, std::less<>> allowed_labels = {};
};

class Registry {
 public:
  explicit Registry(RegistryOptions options = {}) : options_(std::move(options)) {}

  // If a family of that name exists, returns it unchanged.
  CounterFamily& AddCounter(FamilyOptions options);
  GaugeFamily& AddGauge(FamilyOptions options);
  HistogramFamily& AddHistogram(FamilyOptions options, std::vector<double> bounds);
  // Called at the start of every WriteText, on its thread, to update values.
  void OnCollect(std::function<void()> collect);

  // The number of families of a stability; the number that --disabled-metrics leaves out.
  size_t Families(Stability stability);
  size_t DisabledFamilies();

  // All families that have series, sorted by name, in the text format 0.0.4.
  std::string WriteText();
  // Implements DELETE /metrics.
  void Reset();

 private:
  template <class F>
  F& Add(FamilyOptions options, std::vector<double> bounds);

  RegistryOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
  std::vector<std::function<void()>> collectors_;
};

// start, start*factor, … (count of them), computed as client_golang computes them.
std::vector<double> ExponentialBuckets(double start, double factor, size_t count);

// One sample as the text format prints it: name, labels without braces (may be empty), value.
void AppendSample(std::string& out, std::string_view name, std::string_view suffix,
                  std::string_view labels, double value);
// name="value", escaped.
void AppendLabel(std::string& out, std::string_view name, std::string_view value);
void AppendHead(std::string& out, std::string_view name, std::string_view help,
                std::string_view type);
// The help text as Kubernetes prints it: "[ALPHA] help".
std::string AnnotatedHelp(Stability stability, std::string_view help);

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace berth::server
