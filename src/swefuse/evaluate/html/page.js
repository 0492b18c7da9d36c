"use strict";
// A cursor for a line chart: the pointer or the arrow keys choose an x, the legend reads out the values there.
const readOut = (plot) => {
  const { axis: [low, high, start, end], series } = JSON.parse(plot.dataset.plot);
  const area = plot.querySelector(".area"), cursor = plot.querySelector(".cursor"), where = plot.querySelector(".where output");
  const outputs = [...plot.querySelectorAll(".legend output")];
  const resting = [where, ...outputs].map((output) => output.textContent);
  const xs = [...new Set(series.flat().map((point) => point[0]))].sort((a, b) => a - b);
  const write = (value, digits) =>
    value.toLocaleString("en", Math.abs(value) < 1000 ? { maximumSignificantDigits: digits } : { maximumFractionDigits: 0 });
  const nearest = (list, x, key) => list.reduce((a, b) => (Math.abs(key(b) - x) < Math.abs(key(a) - x) ? b : a));
  let at = xs.length - 1;

  const show = () => {
    const x = xs[at], place = start + ((x - low) / (high - low)) * (end - start);
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    plot.classList.add("reading");
    where.textContent = write(x, 4);
    series.forEach((points, i) => {
      const inside = points.length && x >= points[0][0] && x <= points[points.length - 1][0];
      outputs[i].textContent = inside ? write(nearest(points, x, (point) => point[0])[1], 3) : "\u2013";
    });
  };
  const rest = () => {
    plot.classList.remove("reading");
    [where, ...outputs].forEach((output, i) => { output.textContent = resting[i]; });
  };

  area.addEventListener("pointermove", (event) => {
    const box = area.querySelector("svg").getBoundingClientRect();
    const x = low + (((event.clientX - box.left) / box.width) * 300 - start) / (end - start) * (high - low);
    at = xs.indexOf(nearest(xs, x, (value) => value));
    show();
  });
  area.addEventListener("pointerleave", rest);
  area.addEventListener("focus", show);
  area.addEventListener("blur", rest);
  area.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -xs.length, End: xs.length }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    at = Math.min(Math.max(at + move, 0), xs.length - 1);
    show();
  });
};
document.querySelectorAll("[data-plot]").forEach(readOut);
