'use strict';

// Draws each chart of the data beside this script: goals as bars along a line at 1, figures as groups of bars.
const parent = document.getElementById('charts');

function goals(chart) {
  return {
    height: 120 + 24 * chart.groups.length,
    option: {
      title: { text: chart.title, subtext: chart.unit },
      tooltip: { valueFormatter: (value) => value.toFixed(2) },
      grid: { left: 20, right: 40, top: 70, bottom: 20, containLabel: true },
      xAxis: { type: 'log', logBase: 2 },
      yAxis: { type: 'category', inverse: true, data: chart.groups },
      series: chart.series.map((bars) => ({
        type: 'bar',
        name: bars.name,
        data: bars.values.map((value) => ({ value, itemStyle: { color: value >= 1 ? '#2e7d5b' : '#c2554d' } })),
        markLine: { symbol: 'none', silent: true, label: { show: false }, data: [{ xAxis: 1 }] },
      })),
    },
  };
}

function figures(chart) {
  return {
    height: 420,
    option: {
      title: { text: chart.title },
      tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' } },
      legend: { top: 30 },
      grid: { left: 20, right: 20, top: 80, bottom: 20, containLabel: true },
      xAxis: { type: 'category', data: chart.groups, axisLabel: { interval: 0, rotate: 30 } },
      yAxis: { type: 'value', name: chart.unit },
      series: chart.series.map((bars) => ({ type: 'bar', name: bars.name, data: bars.values })),
    },
  };
}

for (const chart of JSON.parse(document.getElementById('data').textContent)) {
  const drawn = chart.name === 'goals' ? goals(chart) : figures(chart);
  const element = document.createElement('div');
  element.className = 'chart';
  element.style.height = `${drawn.height}px`;
  parent.append(element);
  const instance = echarts.init(element, null, { renderer: 'svg' });
  instance.setOption({ animation: false, ...drawn.option });
  window.addEventListener('resize', () => instance.resize());
}
