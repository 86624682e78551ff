// Sets the chosen theme before the first paint; without a choice the system's is followed.
(function () {
  try {
    var chosen = localStorage.getItem('berth.theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch (_) {
    // Storage may be switched off: the system's theme then.
  }
})();
