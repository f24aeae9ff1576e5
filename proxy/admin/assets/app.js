// The pages are whole without this script. It asks for the page again now and then, puts what has changed into place, and
// draws the charts of the last hour from history.json.
"use strict";

const every = Number(document.body.dataset.refresh);
const lost = document.getElementById("lost");
let hour = null; // what history.json said last
let askedForHour = 0;

// get asks for a path of this host; the address in the location bar may have a password in it, which fetch refuses.
async function get(path) {
  const answer = await fetch(new URL(path, location.origin + location.pathname), {cache: "no-store"});
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer;
}

// refreshPage takes over the parts of the page that are live.
async function refreshPage() {
  const text = await (await get(location.pathname)).text();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = fresh.getElementById(part.id);
    if (now) part.replaceChildren(...now.childNodes);
  }
  if (hour) drawAll();
}

async function refreshHour() {
  const now = Date.now();
  if (!document.querySelector("[data-series]")) return;
  if (!hour || now - askedForHour >= 1000 * Math.min(hour.step, 10)) {
    hour = await (await get("history.json")).json();
    askedForHour = now;
  }
  drawAll();
}

function drawAll() {
  for (const figure of document.querySelectorAll("figure[data-series]")) draw(figure);
}

// gone greys the figures, which are old then, and says so in the title.
const title = document.title;
function gone(is) {
  lost.hidden = !is;
  document.body.classList.toggle("gone", is);
  document.title = is ? `no answer: ${title}` : title;
}

async function tick() {
  try {
    if (!document.hidden) {
      await refreshPage();
      await refreshHour();
    }
    gone(false);
  } catch (error) {
    if (lost.hidden) lost.textContent = `seqgate does not answer since ${new Date().toISOString().slice(11, 19)} UTC: ${error.message}. The figures are of then.`;
    gone(true);
  }
  setTimeout(tick, every);
}

// element makes an element of SVG.
function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// round gives the next of 1, 2, 2.5, 5, 10, 20, ... from a value on.
function round(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((n) => n * unit).find((n) => n >= value * 0.999);
}

// short writes a number in few characters.
function short(value) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, letter] of units) if (value >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  return String(Number(value.toPrecision(3)));
}

// draw shows the series of a figure, which may be named in its caption.
function draw(figure) {
  const small = figure.classList.contains("spark");
  const [width, height, foot] = small ? [84, 20, 0] : [figure.querySelector("figcaption").clientWidth, 110, 14];
  const names = small ? [figure.dataset.series] : figure.dataset.series.split(",");
  const series = names.map((name) => hour.series[name] || []);
  const most = Math.max(0, ...series.flat());
  const top = most > 0 ? (small ? most : round(most)) : 1;
  // A process that is younger than an hour has the whole width for what there is.
  const span = Math.min(hour.points, Math.max(30, ...Object.values(hour.series).map((values) => values.length)));
  const x = (i, n) => width - ((n - 1 - i) * width) / (span - 1); // the latest is at the right end
  const y = (value) => 2 + (1 - value / top) * (height - foot - 4);
  const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true"});
  if (!small) {
    for (const part of [0, 0.5, 1]) svg.append(element("path", {class: "grid", d: `M0 ${y(top * part)}H${width}`}));
  }
  series.forEach((values, k) => trace(svg, values, x, y, k));
  if (!small) label(svg, figure, series, {width, height, top, x, y, span});
  figure.querySelector("svg")?.remove();
  figure.append(svg);
}

// trace draws the line of a series, with gaps where there are no values, and the area below the first one.
function trace(svg, values, x, y, k) {
  const n = values.length;
  let line = "", area = "", begun = -1;
  values.forEach((value, i) => {
    if (value === null) return;
    const at = `${x(i, n).toFixed(1)} ${y(value).toFixed(1)}`;
    const begins = i === 0 || values[i - 1] === null;
    line += (begins ? "M" : "L") + at;
    if (begins) begun = i;
    area += (begins ? `M${x(i, n).toFixed(1)} ${y(0).toFixed(1)}L` : "L") + at;
    if (i === n - 1 || values[i + 1] === null) {
      area += `V${y(0).toFixed(1)}Z`;
      if (begun === i) line += "h.1"; // a point by itself
    }
  });
  if (k === 0) svg.append(element("path", {class: "area", d: area}));
  svg.append(element("path", {class: k === 0 ? "trace" : "trace second", d: line}));
}

// label writes the scale, and the values in the caption: the latest, or those under the pointer.
function label(svg, figure, series, {width, height, top, x, y, span}) {
  svg.append(element("text", {class: "tick", x: 2, y: y(top) + 10}, short(top)));
  svg.append(element("text", {class: "tick", x: 0, y: height - 2}, span === hour.points ? "1 h ago" : `${Math.round((span * hour.step) / 60)} min ago`));
  svg.append(element("text", {class: "tick", x: width, y: height - 2, "text-anchor": "end"}, "now"));
  const reading = figure.querySelector(".reading"), labels = figure.dataset.labels.split(",");
  const read = (back) => {
    reading.textContent = series.map((values, k) => {
      const value = values[values.length - 1 - back];
      return value === undefined || value === null ? "" : `${k > 0 ? labels[k] + " " : ""}${short(value)}`;
    }).filter(Boolean).join(", ");
  };
  const cross = element("path", {class: "cross", d: ""});
  svg.append(cross);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const back = Math.max(0, Math.round((1 - (event.clientX - box.left) / box.width) * (span - 1)));
    cross.setAttribute("d", `M${x(span - 1 - back, span)} 0V${y(0)}`);
    read(back);
  });
  svg.addEventListener("pointerleave", () => {
    cross.setAttribute("d", "");
    read(0);
  });
  read(0);
}

const charts = document.getElementById("charts");
if (charts) charts.hidden = false;
refreshHour().catch(() => {}).then(() => setTimeout(tick, every)); // tick tells what is wrong
