// Draws one chart a panel from what Prometheus answered (data.js), in the dashboard's rows. The page's fragment names the
// rows to draw, separated by commas; without one all are drawn.
'use strict';

function number(value) {
  return Math.abs(value) >= 1e4 ? scaled(value, 1000, ['', 'k', 'M', 'G', 'T']) : String(Number(value.toPrecision(3)));
}

function scaled(value, step, units) {
  let i = 0;
  while (Math.abs(value) >= step && i < units.length - 1) {
    value /= step;
    i++;
  }
  return `${Number(value.toPrecision(3))} ${units[i]}`.trim();
}

function seconds(value) {
  if (value === 0) return '0';
  return value < 1e-3 ? `${number(value * 1e6)} µs` : value < 1 ? `${number(value * 1e3)} ms` : `${number(value)} s`;
}

const FORMATS = {
  Bps: value => scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']),
  bytes: value => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']),
  ops: value => `${number(value)}/s`,
  cps: value => `${number(value)}/s`,
  percentunit: value => `${number(value * 100)} %`,
  s: seconds,
  short: number,
  none: number,
};

function formatOf(panel) {
  return value => (value === null || value === undefined ? '' : FORMATS[panel.unit](value));
}

function last(series) {
  const drawn = series.points.filter(point => point[1] !== null);
  return drawn.length === 0 ? null : drawn[drawn.length - 1][1];
}

function lines(panel) {
  const format = formatOf(panel);
  const small = panel.type === 'stat';
  return {
    animation: false,
    grid: { left: 70, right: 12, top: 10, bottom: small ? 20 : 46 },
    legend: { show: !small, type: 'scroll', bottom: 0, itemHeight: 8, textStyle: { fontSize: 10 } },
    xAxis: { type: 'time', axisLabel: { fontSize: 10, hideOverlap: true } },
    yAxis: {
      type: panel.logarithmic ? 'log' : 'value',
      axisLabel: { fontSize: 10, formatter: format, hideOverlap: true },
      splitNumber: small ? 2 : 4,
    },
    series: panel.series.map(series => ({
      name: series.name,
      type: 'line',
      showSymbol: false,
      lineStyle: { width: 1.5, type: series.name.endsWith('limit') ? 'dashed' : 'solid' },
      areaStyle: panel.stacked || small ? { opacity: 0.2 } : undefined,
      stack: panel.stacked ? 'all' : undefined,
      data: panel.logarithmic ? series.points.filter(point => point[1] > 0) : series.points,
    })),
  };
}

// The buckets are cumulative: a cell is the difference to the one below.
function heatMap(panel) {
  const buckets = panel.series
    .map(series => ({ bound: series.name === '+Inf' ? Infinity : Number(series.name), series }))
    .sort((one, other) => one.bound - other.bound);
  const times = buckets.length === 0 ? [] : buckets[0].series.points.map(point => point[0]);
  const cells = [];
  let most = 1;
  buckets.forEach((bucket, y) => bucket.series.points.forEach((point, x) => {
    const count = (point[1] || 0) - (y === 0 ? 0 : buckets[y - 1].series.points[x][1] || 0);
    if (count > 0.001) {
      cells.push([x, y, count]);
      most = Math.max(most, count);
    }
  }));
  return {
    animation: false,
    grid: { left: 70, right: 12, top: 10, bottom: 24 },
    xAxis: { type: 'category', data: times.map(time => new Date(time).toLocaleTimeString('en-GB')), axisLabel: { fontSize: 10 } },
    yAxis: { type: 'category', data: buckets.map(bucket => (bucket.bound === Infinity ? 'more' : seconds(bucket.bound))), axisLabel: { fontSize: 10 } },
    visualMap: { show: false, min: 0, max: most, inRange: { color: ['#fff1db', '#ffb357', '#e8590c', '#8a2500'] } },
    series: [{ type: 'heatmap', data: cells }],
  };
}

function table(panel, parent) {
  const names = [...new Set(panel.series.map(series => series.name))];
  const peers = [...new Set(panel.series.map(series => series.labels))];
  const units = panel.units || {};
  const html = document.createElement('table');
  const line = (tag, cells) => {
    const tr = html.insertRow();
    cells.forEach(text => {
      const cell = document.createElement(tag);
      cell.textContent = text;
      tr.append(cell);
    });
  };
  line('th', ['Peer', ...names]);
  peers.forEach(peer => line('td', [peer, ...names.map(name => {
    const found = panel.series.find(series => series.name === name && series.labels === peer);
    const value = found === undefined ? null : last(found);
    return value === null ? '' : FORMATS[units[name] || panel.unit](value);
  })]));
  parent.append(html);
}

function draw(panel, parent) {
  const box = document.createElement('div');
  box.className = `panel${panel.type === 'stat' ? ' small' : ''}${panel.type === 'table' ? ' wide' : ''}`;
  const title = document.createElement('h3');
  const now = panel.type === 'stat' ? panel.series.map(series => `${formatOf(panel)(last(series))} ${panel.series.length > 1 ? series.name : ''}`) : [];
  title.textContent = now.length === 0 ? panel.title : `${panel.title}: ${now.join(', ')}`;
  box.append(title);
  parent.append(box);
  if (panel.type === 'table') {
    table(panel, box);
    return;
  }
  const chart = document.createElement('div');
  chart.className = 'chart';
  box.append(chart);
  echarts.init(chart, null, { renderer: 'canvas' }).setOption(panel.type === 'heatmap' ? heatMap(panel) : lines(panel));
}

const wanted = decodeURIComponent(location.hash.slice(1)).split(',').filter(name => name !== '');
const rows = [...new Set(dashboard.panels.map(panel => panel.row))].filter(row => wanted.length === 0 || wanted.includes(row));
rows.forEach(row => {
  const title = document.createElement('h2');
  title.textContent = row;
  const grid = document.createElement('div');
  grid.className = 'row';
  document.body.append(title, grid);
  dashboard.panels.filter(panel => panel.row === row).forEach(panel => draw(panel, grid));
});
