// Refreshing, times, theme and keys. Everything works without it, only less comfortably.
(() => {
  const body = document.body;
  const base = body.dataset.base || '';
  const store = {
    get: (name) => { try { return localStorage.getItem('postroom.' + name); } catch (e) { return null; } },
    set: (name, value) => { try { localStorage.setItem('postroom.' + name, value); } catch (e) { /* not kept */ } },
  };
  const byId = (id) => document.getElementById(id);

  // Times: UTC as the server wrote them, or local; always the other one, and how long ago, on hovering.
  let local = store.get('zone') === 'local';
  const pad = (n, width = 2) => String(n).padStart(width, '0');
  const localText = (at) => `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  const ago = (at) => {
    const seconds = Math.round((Date.now() - at.getTime()) / 1000);
    const size = Math.abs(seconds);
    const text = size < 90 ? `${size} s` : size < 5400 ? `${Math.round(size / 60)} min` : size < 129600 ? `${Math.round(size / 3600)} h` : `${Math.round(size / 86400)} days`;
    return seconds < 0 ? `in ${text}` : `${text} ago`;
  };
  function showTimes(root) {
    root.querySelectorAll('time').forEach((element) => {
      const at = new Date(element.dateTime);
      if (Number.isNaN(at.getTime())) return;
      if (!element.dataset.utc) element.dataset.utc = element.textContent;
      element.textContent = !local ? element.dataset.utc : element.dataset.short === undefined ? localText(at) : `${localText(at).slice(5)}.${pad(at.getMilliseconds(), 3)}`;
      element.title = `${local ? element.dataset.utc + ' UTC' : localText(at) + ' local'}, ${ago(at)}`;
    });
    const zone = byId('zone');
    if (zone) zone.querySelector('.word').textContent = local ? 'local' : 'UTC';
  }
  // On a narrow screen rows become cards, which name their fields.
  function labelTables() {
    document.querySelectorAll('table').forEach((table) => {
      const names = [...table.querySelectorAll('thead th')].map((head) => head.textContent);
      table.querySelectorAll('tbody tr').forEach((row) => [...row.cells].forEach((cell, i) => { cell.dataset.label = names[i] || ''; }));
      table.classList.add('labelled');
    });
  }
  // What a click copies, a key must reach too.
  function reachCopies() {
    document.querySelectorAll('code.cli, [data-copy]').forEach((element) => {
      element.tabIndex = 0;
      element.setAttribute('role', 'button');
      element.title = 'Copy';
    });
  }
  function toggleZone() {
    local = !local;
    store.set('zone', local ? 'local' : 'utc');
    showTimes(document);
  }

  // Live: asks for the page again every five seconds while somebody looks at it and nothing is being read or typed in it.
  let live = store.get('live') !== 'off';
  const refreshButton = byId('refresh');
  const showLive = () => {
    if (!refreshButton) return;
    refreshButton.setAttribute('aria-pressed', String(live));
    refreshButton.textContent = live ? 'Live' : 'Paused';
  };
  const isChanged = (field) => field.tagName === 'SELECT'
    ? [...field.options].some((option) => option.selected !== option.defaultSelected) && field.selectedIndex > 0
    : field.type !== 'hidden' && field.value !== field.defaultValue;
  const isBusy = () => {
    const area = byId('live');
    const selection = document.getSelection();
    return !area || area.contains(document.activeElement) && document.activeElement.matches('input, textarea, select, :focus-visible')
      || [...area.querySelectorAll('input, textarea, select')].some(isChanged) || area.querySelector('details[open]') || (selection && !selection.isCollapsed) || document.querySelector('dialog[open]');
  };
  const refresh = () => body.dispatchEvent(new Event('refresh'));
  let tailing = false;
  if (refreshButton) {
    showLive();
    setInterval(() => { if (live && !tailing && !document.hidden && !isBusy()) refresh(); }, 5000);
    refreshButton.addEventListener('click', toggleLive);
  }
  function toggleLive() {
    live = !live;
    store.set('live', live ? 'on' : 'off');
    showLive();
    watchStatus();
  }
  // What had the focus has it again: who goes by keys must not begin anew. What changed is said once, to those who do not see it.
  let focused = null;
  const likeFocused = () => focused && [...byId('live').querySelectorAll(focused.tag)].filter((each) => (each.getAttribute('href') || each.textContent) === focused.what)[focused.nth];
  function keepFocus() {
    const area = byId('live');
    const element = document.activeElement;
    focused = null;
    if (!area || !area.contains(element) || element === area) return;
    const what = element.getAttribute('href') || element.textContent;
    const alike = [...area.querySelectorAll(element.tagName)].filter((each) => (each.getAttribute('href') || each.textContent) === what);
    focused = { tag: element.tagName, what, nth: alike.indexOf(element) };
  }
  function announce() {
    const said = document.querySelector('#live [data-announce]');
    const region = byId('announce');
    if (!region || !said) return;
    if (region.dataset.said !== undefined && region.dataset.said !== said.dataset.announce) region.textContent = said.dataset.announce;
    region.dataset.said = said.dataset.announce;
  }
  document.addEventListener('htmx:afterSwap', () => {
    showTimes(document);
    labelTables();
    reachCopies();
    const again = likeFocused();
    if (again) again.focus({ preventScroll: true });
    focused = null;
    announce();
  });
  document.addEventListener('htmx:beforeSwap', (event) => {
    // A failing database must not take away what is on the screen.
    if (event.detail.xhr.status >= 400) event.detail.shouldSwap = false;
    body.classList.toggle('stale', event.detail.xhr.status >= 400);
    keepFocus();
  });
  document.addEventListener('htmx:sendError', () => body.classList.add('stale'));

  // The first page hears of what changes, and asks for itself again before its five seconds are over.
  const statusArea = document.querySelector('[data-status-events]');
  let statusSource = null;
  let statusBefore = null;
  function watchStatus() {
    if (!statusArea || !refreshButton) return;
    if (document.hidden || !live) {
      if (statusSource) statusSource.close();
      statusSource = null;
    } else if (!statusSource) {
      statusSource = new EventSource(statusArea.dataset.statusEvents);
      statusSource.addEventListener('status', (event) => {
        const status = JSON.parse(event.data);
        const now = JSON.stringify([status.sentence, status.deadLetters, status.heldKeys, status.relays, status.problems]);
        if (statusBefore !== null && now !== statusBefore && !isBusy()) refresh();
        statusBefore = now;
      });
    }
  }
  document.addEventListener('visibilitychange', watchStatus);
  watchStatus();

  // Live tail: new messages on top of the list as they come. What others have written is text here, never markup.
  const tailButton = byId('tail');
  let tailSource = null;
  let tailAt = null;
  let tailShown = 0;
  let tailLeftOut = 0;
  const grouped = (n) => n < 10000 ? String(n) : String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  const sized = (bytes) => {
    let value = bytes;
    let unit = 0;
    while (value >= 1000 && unit < 4) { value /= 1000; unit++; }
    return `${unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${['B', 'kB', 'MB', 'GB', 'TB'][unit]}`;
  };
  function made(name, className, ...content) {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...content);
    return element;
  }
  function linkTo(path, ...content) {
    const link = made('a', '', ...content);
    link.href = base + path;
    return link;
  }
  const middle = (text, max) => { const side = (max - 1) >> 1; return text.length <= max ? text : `${text.slice(0, max - 1 - side)}…${text.slice(text.length - side)}`; };
  function tailRow(message) {
    const path = `/messages/${encodeURIComponent(message.id)}`;
    const titled = (element, title) => { element.title = title; return element; };
    const type = made('td', 'nowrap what', titled(linkTo(path, made('b', '', middle(message.eventType, 40))), message.eventType));
    if (message.eventVersion > 1) type.append(made('span', 'muted', ` v${message.eventVersion}`));
    const tenant = message.tenantId === null ? '' : `&tenant=${encodeURIComponent(message.tenantId)}`;
    const key = titled(linkTo(`/messages?aggregateType=${encodeURIComponent(message.aggregateType)}&key=${encodeURIComponent(message.aggregateId)}${tenant}&before=${message.position + 5000}`, middle(message.aggregateId, 20)), message.aggregateId);
    key.className = 'mono';
    const at = new Date(message.occurredAt);
    const time = made('time', '', at.toISOString().slice(5, 23).replace('T', ' '));
    time.dateTime = message.occurredAt;
    time.dataset.short = '';
    const row = made('tr', 'fresh', made('td', 'nowrap when', time), type,
      made('td', 'nowrap key', titled(made('span', 'muted', middle(message.aggregateType, 24)), message.aggregateType), ' ', key),
      titled(made('td', 'nowrap tenant', message.tenantId === null ? '–' : middle(message.tenantId, 20)), message.tenantId || ''),
      made('td', 'n size', sized(message.bytes)), made('td', 'n at', grouped(message.position)));
    row.dataset.position = message.position;
    const heads = document.querySelectorAll('#message-list thead th');
    [...row.cells].forEach((cell, i) => { cell.dataset.label = heads[i].textContent; });
    return row;
  }
  function tailOn(message) {
    const rows = byId('message-rows');
    const first = rows.firstElementChild;
    if (first && Number(first.dataset.position) >= message.position) return;
    const row = tailRow(message);
    rows.prepend(row);
    showTimes(row);
    const list = byId('message-list');
    list.hidden = false;
    const empty = document.querySelector('#live .empty');
    if (empty) empty.remove();
    while (rows.children.length > Number(list.dataset.rowsMax)) rows.lastElementChild.remove();
    tailShown++;
    countTail();
  }
  function countTail() {
    byId('tail-count').textContent = `${tailShown ? grouped(tailShown) : 'No'} new message${tailShown === 1 ? '' : 's'}${tailLeftOut ? `, ${grouped(tailLeftOut)} left out` : ''}.`;
  }
  const noteTail = (text) => { if (byId('tail-note').textContent !== text) byId('tail-note').textContent = text; };
  function closeTail() {
    if (tailSource) tailSource.close();
    tailSource = null;
  }
  function openTail() {
    closeTail();
    const url = tailButton.dataset.events;
    tailSource = new EventSource(`${url}${url.includes('?') ? '&' : '?'}after=${tailAt}`);
    tailSource.onopen = () => noteTail('');
    tailSource.addEventListener('message', (event) => {
      tailAt = event.lastEventId;
      tailOn(JSON.parse(event.data));
    });
    tailSource.addEventListener('left-out', (event) => {
      tailLeftOut += JSON.parse(event.data).messages;
      countTail();
    });
    tailSource.addEventListener('stale', () => noteTail('The database does not answer; trying again.'));
    tailSource.addEventListener('end', (event) => { if (JSON.parse(event.data).why === 'signed out') stopTail('You are signed out.'); });
    tailSource.onerror = () => {
      if (!tailSource) return;
      if (tailSource.readyState === EventSource.CLOSED) stopTail('The live tail was refused: too many watch, or you are signed out. Press it to try again.');
      else noteTail('The connection is lost; trying again.');
    };
  }
  function stopTail(why) {
    closeTail();
    tailing = false;
    tailButton.setAttribute('aria-pressed', 'false');
    noteTail(why);
  }
  if (tailButton) {
    tailButton.hidden = false;
    tailButton.addEventListener('click', () => {
      if (tailing) { stopTail(''); return; }
      tailing = true;
      tailButton.setAttribute('aria-pressed', 'true');
      tailAt = byId('message-list').dataset.newest;
      tailShown = 0;
      tailLeftOut = 0;
      byId('tail-state').hidden = false;
      countTail();
      openTail();
    });
    document.addEventListener('visibilitychange', () => {
      if (!tailing) return;
      if (document.hidden) { closeTail(); noteTail('Paused while this tab is hidden.'); } else openTail();
    });
  }

  function nextTheme() {
    const order = ['auto', 'light', 'dark'];
    const now = document.documentElement.dataset.theme || 'auto';
    const next = order[(order.indexOf(now) + 1) % order.length];
    if (next === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    store.set('theme', next);
    showTheme();
  }
  function showTheme() {
    const button = byId('theme');
    if (button) button.querySelector('.word').textContent = document.documentElement.dataset.theme || 'auto';
  }

  const help = () => { const keys = byId('keys'); if (keys.open) keys.close(); else keys.showModal(); };
  const on = (id, work) => { const element = byId(id); if (element) element.addEventListener('click', work); };
  on('zone', toggleZone);
  on('theme', nextTheme);
  on('help', help);

  // Who speaks to a computer, or has a tremor, wants no single keys.
  let singleKeys = store.get('keys') !== 'off';
  function showKeys() {
    const button = byId('single-keys');
    if (!button) return;
    button.setAttribute('aria-pressed', String(singleKeys));
    button.textContent = singleKeys ? 'Single keys on' : 'Single keys off';
  }
  on('single-keys', () => { singleKeys = !singleKeys; store.set('keys', singleKeys ? 'on' : 'off'); showKeys(); });
  showKeys();

  let pending = 0;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/INPUT|TEXTAREA|SELECT/.test(event.target.tagName)) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    if (event.key === 'Enter' && event.target.matches('code.cli, [data-copy]')) { event.target.click(); return; }
    if (!singleKeys) return;
    const wasPending = Date.now() - pending < 1500;
    pending = 0;
    if (wasPending) {
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      return;
    }
    const work = { '/': () => byId('find').focus(), '?': help, r: refresh, l: toggleLive, u: toggleZone, t: nextTheme, g: () => { pending = Date.now(); } }[event.key];
    if (work) {
      event.preventDefault();
      work();
    }
  });

  // Charts: the values under the pointer, in the legend.
  document.addEventListener('pointermove', (event) => {
    const plot = event.target.closest && event.target.closest('.plot');
    document.querySelectorAll('.chart.reading').forEach((chart) => { if (!plot || !chart.contains(plot)) endReading(chart); });
    if (!plot) return;
    const chart = plot.closest('.chart');
    const rows = chart.dataset.readings ? chart.dataset.readings.split(';').map((row) => row.split('|')) : [];
    if (!rows.length) return;
    const area = plot.getBoundingClientRect();
    const share = (event.clientX - area.left) / area.width;
    const row = rows.reduce((best, each) => Math.abs(each[0] - share) < Math.abs(best[0] - share) ? each : best);
    chart.classList.add('reading');
    plot.querySelector('.cross').style.left = `${row[0] * area.width}px`;
    chart.querySelectorAll('.legend b').forEach((value, i) => {
      if (!value.dataset.last) value.dataset.last = value.textContent;
      value.textContent = row[i + 2];
    });
    const title = chart.querySelector('.chart-title');
    if (!title.dataset.title) title.dataset.title = title.textContent;
    const at = new Date(row[1]);
    title.textContent = local ? localText(at).slice(11) : row[1].slice(11, 19) + ' UTC';
  });
  function endReading(chart) {
    chart.classList.remove('reading');
    chart.querySelectorAll('.legend b').forEach((value) => { if (value.dataset.last) value.textContent = value.dataset.last; });
    const title = chart.querySelector('.chart-title');
    if (title.dataset.title) title.textContent = title.dataset.title;
  }

  // Copying: a click on a command takes it to the clipboard, also where the page came over plain HTTP.
  document.addEventListener('click', async (event) => {
    const code = event.target.closest && event.target.closest('code.cli, [data-copy]');
    if (!code) return;
    const text = code.dataset.copy || code.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch (e) {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    code.classList.add('copied');
    setTimeout(() => code.classList.remove('copied'), 900);
  });

  // What was refused can be mended: browsers keep what was typed on the page before.
  document.querySelectorAll('[data-back]').forEach((button) => {
    button.hidden = history.length < 2;
    button.addEventListener('click', () => history.back());
  });

  // A form that acts is sent once, however often its button is pressed.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post') return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = 'yes';
    form.classList.add('sending');
  });
  window.addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach((form) => { delete form.dataset.sent; form.classList.remove('sending'); }));

  // How long a redrive takes at the rate that is being typed.
  document.addEventListener('input', (event) => {
    const letters = Number(event.target.dataset && event.target.dataset.letters);
    const hint = byId('rate-takes');
    if (!letters || !hint) return;
    const seconds = Math.ceil(letters / Number(event.target.value.replace(',', '.')));
    hint.textContent = !Number.isFinite(seconds) || seconds < 0 ? 'Without one they go as fast as they can.'
      : `Takes about ${seconds < 120 ? seconds + ' s' : seconds < 7200 ? Math.round(seconds / 60) + ' min' : Math.round(seconds / 3600) + ' h'}.`;
  });

  // A choice that is only a filter applies at once; not while keys go through the choices.
  let keyed = 0;
  document.addEventListener('keydown', (event) => { if (event.target.tagName === 'SELECT') keyed = Date.now(); }, true);
  document.addEventListener('change', (event) => {
    if (event.target.matches('form.filters select') && Date.now() - keyed > 1000) event.target.form.requestSubmit();
  });

  // On a narrow screen the parts are in a row that scrolls.
  const here = document.querySelector('nav [aria-current]');
  if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.clientWidth / 2 + here.clientWidth / 2;

  showTheme();
  showTimes(document);
  labelTables();
  reachCopies();
  announce();
  document.documentElement.dataset.ready = 'yes';
})();
