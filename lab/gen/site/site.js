(function () {
  "use strict";
  var up = document.body.dataset.up, root = document.documentElement;
  var input = document.getElementById("search"), found = document.getElementById("found");
  var menu = document.getElementById("menu");

  document.getElementById("theme").onclick = function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* pages from disk may not store */ }
  };
  menu.onclick = function () {
    menu.setAttribute("aria-expanded", String(document.body.classList.toggle("menu")));
  };
  document.getElementById("find").onclick = function () {
    document.body.classList.add("searching");
    input.focus();
  };

  function icon(path) {
    var svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS(svg.namespaceURI, "path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    line.setAttribute("d", path);
    svg.append(line);
    return svg;
  }

  // A button beside a block copies it: of a session in a terminal, only what is typed.
  document.querySelectorAll("main pre").forEach(function (pre) {
    var button = document.createElement("button"), typed = pre.querySelectorAll("b:not(.prompt)");
    function show(label, path) {
      button.setAttribute("aria-label", label);
      button.title = label;
      button.replaceChildren(icon(path));
      button.classList.toggle("done", label === "Copied");
    }
    function rest() { show("Copy", "M9 9h10v11H9zM15 9V4H5v11h4"); }
    button.type = "button";
    button.className = "copy";
    button.onclick = function () {
      var text = typed.length ? Array.from(typed).map(function (b) { return b.textContent; }).join("\n")
        : pre.querySelector("code").textContent;
      navigator.clipboard.writeText(text.trim() + "\n").then(function () {
        show("Copied", "m5 13 4.5 4.5L19 7");
        setTimeout(rest, 1500);
      });
    };
    rest();
    var box = document.createElement("div");
    box.className = "block";
    pre.replaceWith(box);
    box.append(pre, button);
  });

  // "On this page" marks the section you're reading: the last one whose heading is above the text's beginning.
  var links = Array.from(document.querySelectorAll("aside a"));
  function mark() {
    var now = null, bottom = window.innerHeight + window.scrollY >= root.scrollHeight - 2;
    links.forEach(function (a) {
      var heading = document.getElementById(decodeURIComponent(a.hash.slice(1)));
      if (!now || bottom || heading.getBoundingClientRect().top < 120) now = a;
    });
    links.forEach(function (a) { a.classList.toggle("now", a === now); });
  }
  if (links.length) {
    mark();
    addEventListener("scroll", mark, { passive: true });
  }

  function excerpt(text, word) {
    var hit = text.toLowerCase().indexOf(word), from = hit > 40 ? text.indexOf(" ", hit - 40) + 1 : 0;
    var box = document.createElement("small");
    if (hit < 0 || from > hit) {
      box.textContent = text.slice(0, 160);
      return box;
    }
    var mark = document.createElement("mark");
    mark.textContent = text.slice(hit, hit + word.length);
    box.append((from ? "…" : "") + text.slice(from, hit), mark, text.slice(hit + word.length, from + 160));
    return box;
  }

  function close() {
    found.hidden = true;
    document.body.classList.remove("searching");
  }

  function search() {
    var result = window.findSections(window.searchIndex || [], input.value), hits = result.sections;
    found.textContent = "";
    found.hidden = !result.word;
    if (!result.word) return;
    hits.forEach(function (s, i) {
      var a = document.createElement("a");
      a.href = up + s.u;
      a.textContent = s.h;
      if (s.h !== s.p) {
        var page = document.createElement("span");
        page.textContent = " · " + s.p;
        a.append(page);
      }
      a.append(excerpt(s.t, result.word));
      if (!i) a.className = "chosen";
      a.onclick = close;
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
      close();
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
    if (!event.target.closest(".search, #find")) close();
  });
})();
