// Shows what the mover does, as it does it: state comes once by GET and then as server-sent events. All that comes from the
// mover is shown as text and never as markup.
'use strict';

// Without any event for so long the stream is taken for dead, even if the browser reports it open.
const SILENCE_MILLIS = 10_000;
const SHORTEST_PAUSE_MILLIS = 500;
const LONGEST_PAUSE_MILLIS = 8_000;
const REQUEST_MILLIS = 10_000;
// Peers and pools have no events.
const LISTS_MILLIS = 5_000;
const DRAW_MILLIS = 100;
const CHART_SAMPLES = 60;
const CHART_MILLIS = 1_000;
// More than the mover remembers: a page that is open for days does not grow.
const MOST_MOVES = 500;

// In the order in which a move goes through them.
const STATES = {
  WAITING: { text: 'waiting', step: 0 },
  RUNNING: { text: 'running', step: 1 },
  CANCELLING: { text: 'cancelling', step: 2 },
  DONE: { text: 'done', step: 3 },
  CANCELLED: { text: 'cancelled', step: 3 },
  FAILED: { text: 'failed', step: 3 },
};
const ENDED = 3;
const stepOf = move => STATES[move.state]?.step ?? 0;
const hasEnded = move => stepOf(move) === ENDED;
const stateText = move => STATES[move.state]?.text ?? String(move.state);

const byId = id => document.getElementById(id);
const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

// ---- Words and figures

function scaled(value, step, units) {
  let i = 0;
  while (value >= step && i < units.length - 1) {
    value /= step;
    i++;
  }
  return `${i === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[i]}`;
}

const bytesText = value => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const rateText = value => scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
const count = (value, one, many) => `${value} ${value === 1 ? one : many}`;
const whole = value => (Number.isFinite(value) && value > 0 ? value : 0);

// Writes only what differs: a screen reader that reads a line does not begin again.
function show(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function announce(text) {
  const log = byId('announcements');
  log.append(make('span', { textContent: `${text}. ` }));
  while (log.childElementCount > 5) log.firstElementChild.remove();
}

function complain(text) {
  show(byId('problem-text'), text);
  byId('problem').hidden = false;
}

byId('problem-dismiss').addEventListener('click', () => {
  byId('problem').hidden = true;
  byId('moves').focus();
});

// ---- The API

// A problem as RFC 9457 has it, with what to do about it.
function problemText(problem) {
  if (problem === null || typeof problem !== 'object') return '';
  const { title, detail, action } = problem;
  return [title && detail ? `${title}: ${detail}.` : title || detail || '', action || ''].join(' ').trim();
}

async function request(path, options = {}) {
  let response;
  let text;
  try {
    response = await fetch(path, { ...options, cache: 'no-store', signal: AbortSignal.timeout(REQUEST_MILLIS) });
    text = await response.text();
  } catch (error) {
    throw new Error(error.name === 'TimeoutError' ? 'The mover did not answer in time.' : 'The mover cannot be reached.');
  }
  let body = null;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    // An answer of something between here and the mover: its status says enough.
  }
  if (!response.ok) {
    throw new Error(problemText(body) || `The mover answered with status ${response.status}.`);
  }
  return body;
}

// ---- Moves

const moves = new Map();
const rows = new Map();
let movesKnown = false;
let drawing = 0;

function take(move) {
  if (move === null || typeof move !== 'object' || move.id === undefined) return;
  const id = String(move.id);
  const before = moves.get(id);
  // An answer may be older than an event that has overtaken it.
  if (before !== undefined && stepOf(move) < stepOf(before)) return;
  if (before !== undefined && !hasEnded(before) && hasEnded(move)) announce(`Move ${id} is ${stateText(move)}`);
  moves.set(id, { ...before, ...move, id });
  while (moves.size > MOST_MOVES) moves.delete(moves.keys().next().value);
  drawSoon();
}

async function cancel(id) {
  const row = rows.get(id);
  if (row.asked || stepOf(moves.get(id)) > STATES.RUNNING.step) return;
  row.asked = true;
  drawSoon();
  try {
    take(await request(`api/moves/${encodeURIComponent(id)}`, { method: 'DELETE' }));
  } catch (error) {
    row.asked = false;
    complain(`Move ${id} could not be cancelled. ${error.message}`);
    drawSoon();
  }
}

function newRow(id) {
  // Takes the focus over when the button goes.
  const item = make('li', { tabIndex: -1 });
  item.dataset.move = id;
  const what = make('h3', { className: 'what', id: `move-${id}` });
  const state = make('span', { className: 'state' });
  const bar = make('progress');
  bar.setAttribute('aria-labelledby', what.id);
  const amount = make('span', { className: 'amount' });
  const button = make('button', { type: 'button', className: 'cancel', textContent: 'Cancel' });
  button.addEventListener('click', () => cancel(id));
  const why = make('p', { className: 'why', hidden: true });
  item.append(what, state, bar, amount, button, why);
  byId('moves').prepend(item);
  return { item, what, state, bar, amount, button, why, asked: false };
}

function amountText(move, done, total) {
  const parts = [`${whole(move.blocksDone)} of ${count(whole(move.blocks), 'block', 'blocks')}`];
  if (whole(move.blocksPresent) > 0) parts.push(`${move.blocksPresent} there already`);
  if (total > 0) parts.push(`${bytesText(done)} of ${bytesText(total)}`);
  return parts.join(', ');
}

function drawMove(row, move) {
  const total = whole(move.bytes);
  const done = Math.min(whole(move.bytesDone), total);
  show(row.what, `Move ${move.id} ${move.direction} ${move.peer}`);
  show(row.state, stateText(move));
  row.state.dataset.state = move.state;
  row.bar.max = Math.max(total, 1);
  row.bar.value = total === 0 && move.state === 'DONE' ? 1 : done;
  row.bar.setAttribute('aria-valuetext', `${Math.floor(100 * row.bar.position)} %`);
  show(row.amount, amountText(move, done, total));
  row.button.setAttribute('aria-label', `Cancel move ${move.id}`);
  // Not disabled, which would take the focus from it.
  row.button.setAttribute('aria-disabled', String(row.asked || stepOf(move) > STATES.RUNNING.step));
  if (hasEnded(move) && !row.button.hidden) {
    const focused = document.activeElement === row.button;
    row.button.hidden = true;
    if (focused) row.item.focus();
  }
  const why = problemText(move.problem);
  show(row.why, why);
  row.why.hidden = why === '';
}

function drawMoves() {
  for (const [id, row] of rows) {
    if (!moves.has(id)) {
      const focused = row.item.contains(document.activeElement);
      row.item.remove();
      rows.delete(id);
      if (focused) byId('moves').focus();
    }
  }
  let underWay = 0;
  for (const [id, move] of moves) {
    if (!rows.has(id)) rows.set(id, newRow(id));
    drawMove(rows.get(id), move);
    if (!hasEnded(move)) underWay++;
  }
  if (movesKnown) show(byId('under-way'), String(underWay));
  show(byId('moves-empty'), movesKnown ? 'No moves yet: start one below.' : 'Waiting for the mover…');
  byId('moves-empty').hidden = moves.size > 0;
  byId('moves').hidden = moves.size === 0;
}

// Not by animation frames, which a page in the background is not given: it would show what is old when it comes back.
function drawSoon() {
  if (drawing === 0) {
    drawing = setTimeout(() => {
      drawing = 0;
      drawMoves();
    }, DRAW_MILLIS);
  }
}

// ---- The engine's figures

const rates = [];
let lastRate = null;

function drawEngine(engine) {
  const inFlight = whole(engine.inFlight);
  const limit = whole(engine.inFlightLimit);
  lastRate = whole(engine.bytesPerSecond);
  show(byId('bandwidth'), rateText(lastRate));
  show(byId('in-flight'), `${inFlight} of ${limit}`);
  show(byId('in-flight-bytes'), `${bytesText(whole(engine.inFlightBytes))} of ${bytesText(whole(engine.inFlightBytesLimit))}`);
  const meter = byId('in-flight-meter');
  meter.max = Math.max(limit, 1);
  meter.value = inFlight;
}

// At a steady pace, independent of that of the events: the axis is time.
setInterval(() => {
  if (lastRate === null) return;
  rates.push(lastRate);
  if (rates.length > CHART_SAMPLES) rates.shift();
  const most = Math.max(...rates, 1);
  byId('bandwidth-line').setAttribute(
    'points',
    rates.map((rate, i) => `${2 * (CHART_SAMPLES - rates.length + i)},${29 - (28 * rate) / most}`).join(' '),
  );
  byId('bandwidth-chart').setAttribute('aria-label', `Bandwidth over the last minute, at most ${rateText(most)}`);
}, CHART_MILLIS);

function forgetEngine() {
  lastRate = null;
  show(byId('bandwidth'), 'no data');
  show(byId('in-flight'), 'no data');
  show(byId('in-flight-bytes'), '');
  byId('in-flight-meter').value = 0;
}

// ---- Peers and pools

function drawList(name, items, title, detail, none) {
  const list = byId(name);
  list.replaceChildren(...items.map(item => {
    const line = make('li');
    line.append(
      make('span', { textContent: title(item) }),
      make('span', { className: 'detail', textContent: ` ${detail(item)}` }),
    );
    return line;
  }));
  show(byId(`${name}-empty`), none);
  byId(`${name}-empty`).hidden = items.length > 0;
}

// Keeps what is chosen, if that is still there.
function drawChoice(select, names) {
  const old = [...select.options].map(option => option.value);
  if (old.length === names.length && old.every((name, i) => name === names[i])) return;
  const chosen = select.value;
  select.replaceChildren(...names.map(name => new Option(name, name)));
  if (names.includes(chosen)) select.value = chosen;
}

async function loadLists() {
  const [{ peers, directoryInterrupted }, { pools }] = await Promise.all([request('api/peers'), request('api/pools')]);
  const none = directoryInterrupted
    ? 'No peers: the directory does not answer.'
    : 'No peers: the directory names no other mover.';
  drawList('peers', peers, peer => peer.name, peerDetail, none);
  drawList('pools', pools, pool => pool.name, poolDetail, 'No pools yet: POST api/pools registers one.');
  drawChoice(byId('new-peer'), peers.map(peer => peer.name));
  drawChoice(byId('new-pool'), pools.map(pool => pool.name));
}

function peerDetail(peer) {
  return [peer.address, peer.connected ? `connected by ${peer.transport}` : 'not connected'].filter(Boolean).join(', ');
}

function poolDetail(pool) {
  return [
    `${whole(pool.blocksHeld)} of ${count(whole(pool.blocks), 'block', 'blocks')}`,
    bytesText(whole(pool.bytes)),
    whole(pool.pagesCorrupted) > 0 ? count(pool.pagesCorrupted, 'corrupted page', 'corrupted pages') : '',
  ].filter(Boolean).join(', ');
}

async function loadMoves() {
  // What comes by an event meanwhile may be newer than the answer, and is not forgotten for that.
  const before = [...moves.keys()];
  const list = (await request('api/moves')).moves;
  const known = new Set(list.map(move => String(move.id)));
  before.filter(id => !known.has(id)).forEach(id => moves.delete(id));
  list.forEach(take);
  movesKnown = true;
  drawSoon();
}

// ---- A new move

byId('new').addEventListener('submit', async event => {
  event.preventDefault();
  const move = { [byId('new-direction').value]: byId('new-peer').value, pool: byId('new-pool').value };
  const hashes = byId('new-hashes').value.split(/[\s,]+/).filter(hash => hash !== '');
  if (hashes.length > 0) {
    move.blocks = hashes;
  } else {
    move.count = byId('new-count').valueAsNumber;
  }
  const rate = byId('new-rate').valueAsNumber;
  if (rate > 0) move.bytesPerSecond = rate * 1_000_000;
  const submit = byId('new-submit');
  submit.disabled = true;
  try {
    take(await request('api/moves', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(move),
    }));
    byId('problem').hidden = true;
  } catch (error) {
    complain(`The move was not started. ${error.message}`);
  } finally {
    submit.disabled = false;
  }
});

// ---- The stream of events

let source = null;
let silence = 0;
let pause = SHORTEST_PAUSE_MILLIS;

function connectionIs(state, text) {
  byId('connection').dataset.state = state;
  show(byId('connection-text'), text);
}

function parsed(event) {
  try {
    return JSON.parse(event.data);
  } catch {
    return null;
  }
}

function heard() {
  clearTimeout(silence);
  silence = setTimeout(() => lost('no event for a while'), SILENCE_MILLIS);
}

// The browser's own reconnecting gives up after an answer that is no stream, and does not notice a peer that is silent: so
// each connection is made here.
function connect() {
  connectionIs(source === null && pause === SHORTEST_PAUSE_MILLIS ? 'connecting' : 'lost', 'Connecting…');
  const opened = new EventSource('api/events');
  source = opened;
  heard();
  opened.addEventListener('open', () => {
    if (source !== opened) return;
    pause = SHORTEST_PAUSE_MILLIS;
    heard();
    connectionIs('live', 'Live');
    // What has changed without a listener.
    Promise.all([loadMoves(), loadLists()]).catch(error => complain(`What there is could not be read. ${error.message}`));
  });
  opened.addEventListener('error', () => {
    if (source === opened) lost('the connection ended');
  });
  opened.addEventListener('engine', event => {
    heard();
    const engine = parsed(event);
    if (engine !== null) drawEngine(engine);
  });
  opened.addEventListener('move', event => {
    heard();
    take(parsed(event));
  });
}

function lost(why) {
  clearTimeout(silence);
  source.close();
  source = null;
  forgetEngine();
  connectionIs('lost', `Not connected (${why}); trying again…`);
  setTimeout(connect, pause / 2 + (Math.random() * pause) / 2);
  pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
}

setInterval(async () => {
  // While there is no connection, its next one reads the lists.
  if (byId('connection').dataset.state !== 'live') return;
  try {
    await loadLists();
  } catch (error) {
    complain(`Peers and pools could not be read. ${error.message}`);
  }
}, LISTS_MILLIS);

drawMoves();
connect();
