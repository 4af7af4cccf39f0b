// Before the first paint, so that a page never flashes in the other theme.
(() => {
  try {
    const theme = localStorage.getItem('postroom.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch (e) {
    // No storage: as the system.
  }
})();
