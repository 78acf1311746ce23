(function () {
  "use strict";
  var up = document.body.dataset.up, root = document.documentElement;
  var input = document.getElementById("search"), found = document.getElementById("found");
  var menu = document.getElementById("menu"), nav = document.getElementById("nav");

  document.getElementById("theme").onclick = function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* pages from disk may not store */ }
  };
  menu.onclick = function () {
    menu.setAttribute("aria-expanded", String(nav.classList.toggle("open")));
  };

  // The beginning of a word that its other forms share.
  function stem(word) {
    return word.length > 5 ? word.replace(/(ing|ied|ies|ed|es|s)$/, "") : word;
  }

  // How often a word, or one that begins so, is in a text.
  function count(text, word) {
    return (text.match(new RegExp("(^|[^a-z0-9])" + word.replace(/[^a-z0-9]/g, "\\$&"), "g")) || []).length;
  }

  // How well a section fits: most of the words must be in it, best in its heading.
  function score(section, words) {
    var heading = section.h.toLowerCase(), page = section.p.toLowerCase(), text = section.t.toLowerCase();
    var sum = 0, fit = 0;
    for (var i = 0; i < words.length; i++) {
      var w = words[i], times = count(text, w);
      var points = (count(heading, w) ? 20 : 0) + (count(page, w) ? 8 : 0);
      if (times) points += 2 + Math.min(5, times);
      if (points) fit++;
      sum += points;
    }
    if (fit < words.length * 0.6) return 0;
    sum *= Math.pow(fit / words.length, 3);
    if (/guide|troubleshooting|index/.test(section.u)) sum *= 1.3;
    return sum / (1 + text.length / 20000);
  }

  function excerpt(text, word) {
    var at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
    return (at ? "…" : "") + text.slice(at, at + 160);
  }

  function search() {
    var words = input.value.toLowerCase().split(/\s+/).map(function (w) { return w.replace(/[?!.,;:"']+$/, ""); })
      .filter(function (w) { return w.length > 1; });
    var small = { the: 1, is: 1, a: 1, my: 1, was: 1, "do": 1, does: 1, how: 1, i: 1, to: 1, it: 1, "in": 1, of: 1, why: 1 };
    var telling = words.filter(function (w) { return !small[w]; });
    words = (telling.length ? telling : words).map(stem);
    found.textContent = "";
    found.hidden = !words.length;
    if (!words.length) return;
    var hits = (window.searchIndex || []).map(function (s) { return [score(s, words), s]; })
      .filter(function (h) { return h[0] > 0; }).sort(function (a, b) { return b[0] - a[0]; }).slice(0, 12);
    hits.forEach(function (hit, i) {
      var s = hit[1], a = document.createElement("a"), small = document.createElement("small");
      a.href = up + s.u;
      a.textContent = s.h === s.p ? s.p : s.h + " · " + s.p;
      small.textContent = excerpt(s.t, words[0]);
      a.appendChild(small);
      if (!i) a.className = "chosen";
      a.onclick = function () { found.hidden = true; };
      found.appendChild(a);
    });
    if (!hits.length) {
      var p = document.createElement("p");
      p.textContent = "Nothing was found.";
      found.appendChild(p);
    }
  }

  input.oninput = search;
  input.onfocus = search;
  input.onkeydown = function (event) {
    var links = Array.from(found.querySelectorAll("a"));
    var at = links.findIndex(function (a) { return a.className === "chosen"; });
    if (event.key === "Enter" && links[at]) {
      links[at].click();
    } else if (event.key === "Escape") {
      found.hidden = true;
      input.blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && links.length) {
      event.preventDefault();
      links[at].className = "";
      var next = links[(at + (event.key === "ArrowDown" ? 1 : links.length - 1)) % links.length];
      next.className = "chosen";
      next.scrollIntoView({ block: "nearest" });
    }
  };
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", function (event) {
    if (!event.target.closest(".search")) found.hidden = true;
  });
})();
