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
  if (menu) menu.onclick = function () {
    menu.setAttribute("aria-expanded", String(nav.classList.toggle("open")));
  };

  // A button that copies a block: of a session in a terminal, only what is typed.
  document.querySelectorAll("main pre").forEach(function (pre) {
    var button = document.createElement("button"), typed = pre.querySelectorAll("b:not(.prompt)");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.onclick = function () {
      var text = typed.length ? Array.from(typed).map(function (b) { return b.textContent; }).join("\n")
        : pre.querySelector("code").textContent;
      navigator.clipboard.writeText(text.trim() + "\n").then(function () {
        button.textContent = "copied";
        setTimeout(function () { button.textContent = "copy"; }, 1500);
      });
    };
    var box = document.createElement("div");
    box.className = "block";
    pre.replaceWith(box);
    box.append(pre, button);
  });

  function excerpt(text, word) {
    var at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
    return (at ? "…" : "") + text.slice(at, at + 160);
  }

  function search() {
    var result = window.findSections(window.searchIndex || [], input.value), hits = result.sections;
    found.textContent = "";
    found.hidden = !result.word;
    if (!result.word) return;
    hits.forEach(function (s, i) {
      var a = document.createElement("a"), small = document.createElement("small");
      a.href = up + s.u;
      a.textContent = s.h === s.p ? s.p : s.h + " · " + s.p;
      small.textContent = excerpt(s.t, result.word);
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
