// Shows the sections and types that have every word of the input; those with a word in the heading come first.
const up = document.currentScript.dataset.up;
const input = document.getElementById('search');
const results = document.getElementById('results');
const article = document.querySelector('article');

input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  article.hidden = !results.hidden;
  results.replaceChildren(...(results.hidden ? [] : find(words).map(toItem)));
});

function find(words) {
  return searchIndex
    .map(entry => ({ entry, heading: entry[1].toLowerCase(), all: entry.join(' ').toLowerCase() }))
    .filter(({ all }) => words.every(word => all.includes(word)))
    .sort((a, b) => hits(b.heading, words) - hits(a.heading, words))
    .slice(0, 50)
    .map(({ entry }) => entry);
}

function hits(heading, words) {
  return words.filter(word => heading.includes(word)).length;
}

function toItem([page, heading, link, text]) {
  const item = document.createElement('li');
  const anchor = document.createElement('a');
  anchor.href = up + link;
  anchor.textContent = page === heading ? page : `${page}: ${heading}`;
  item.append(anchor, ` ${text.slice(0, 160)}`);
  return item;
}
