// Search in the sections of all pages: {p: page, h: heading, u: address, t: text}.
(function () {
  "use strict";

  // Words that tell nothing.
  var small = " the is a an my was do does how i i'm im to it its in of why what when can for and or if with which are me from " +
    "at on by be been so not isn't don't can't doesn't there any anything something someone get sees then same new agent agents hookmux ";

  // What the pages call by another word.
  var other = {
    repository: "project", sent: "send", timeout: "wait", stole: "lose", stolen: "lose", lost: "lose", revoke: "remove", appear: "listed", missing: "listed", invisible: "listed", list: "listed",
    slow: "cost", slower: "cost", latency: "cost", performance: "cost", telemetry: "network", privacy: "network",
    unsupported: "not listed", headless: "ci", pipeline: "ci", egress: "host", domain: "host", url: "host",
    allowlist: "allow", whitelist: "allow", remove: "uninstall", "delete": "uninstall", refused: "stopped", denied: "stopped",
    hangs: "crash", killed: "crash", brew: "homebrew", mobile: "phone", continue: "resume", restore: "resume",
    silent: "nothing", daemon: "daemon", server: "daemon", duplicate: "twice", doubled: "twice",
    shortcut: "keys", shortcuts: "keys", dashboard: "live view", snooze: "pause", mute: "quiet", disable: "off", spend: "cost", update: "upgrade",
    price: "cost", tokens: "cost", colleague: "fleet", teammate: "fleet", yesterday: "since", port: "network", ports: "network",
    grafana: "telemetry", splunk: "telemetry", datadog: "telemetry", laptop: "machine", computer: "machine", repeats: "repeat", python: "program",
    message: "notification", whatsapp: "notification", discord: "slack", send: "network", data: "privacy", anywhere: "network"
  };

  // Words that are also how another word begins.
  var whole = { mac: "macos" };

  // The beginning of a word that its other forms share.
  function stem(word) {
    return word.length > 5 ? word.replace(/(ing|ied|ies|ed|es|s)$/, "") : word;
  }

  // How often a word, or one that begins so, is in a text.
  function count(text, word) {
    for (var n = 0, at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      if (!at || !/[a-z0-9]/.test(text[at - 1])) n++;
    }
    return n;
  }

  // The words of a query, each with the other word for it.
  function wordsOf(query) {
    var words = query.toLowerCase().split(/[\s\/]+/).map(function (w) { return w.replace(/^[("'`$–—]+|[?!.,;:"'`)–—]+$/g, ""); })
      .filter(function (w) { return w.length > 1; });
    var telling = words.filter(function (w) { return small.indexOf(" " + w + " ") < 0; });
    return (telling.length ? telling : words).map(function (w) { return { word: stem(whole[w] || w), other: other[w] }; });
  }

  // How well a section fits: the part of the words that must be in it is need. Words count most in its heading,
  // and the more, the fewer sections have them.
  function score(section, words, need) {
    var heading = section.h.toLowerCase(), page = section.p.toLowerCase(), text = section.t.toLowerCase();
    var sum = 0, fit = 0, all = 0;
    function pointsOf(word) {
      var times = count(text, word);
      return (count(heading, word) ? 20 : 0) + (count(page, word) ? 8 : 0) + (times ? 2 + Math.min(5, times) : 0);
    }
    words.forEach(function (w) {
      var points = Math.max(pointsOf(w.word), w.other ? pointsOf(w.other) * 0.7 : 0);
      all += w.weight;
      if (points) fit += w.weight;
      sum += points * w.weight;
    });
    if (!fit || fit < all * need) return 0;
    sum *= Math.pow(fit / all, 3);
    if (/guide|troubleshooting|recipes|concepts|blocked|keys|overview/.test(section.u)) sum *= 1.5;
    if (/CHANGELOG|ARCHITECTURE|CONTRIBUTING|contributing/.test(section.u)) sum *= /CHANGELOG/.test(section.u) ? 0.1 : 0.3;
    if (/commands\//.test(section.u)) sum *= 0.5; // for people who know the command's name
    if (/^docs\/agents\//.test(section.u) && !words.some(function (w) { return count(page, w.word); })) sum *= 0.4;
    return sum / (1 + text.length / 20000);
  }

  // How rare a word is in an index.
  function weigh(index, word) {
    var found = index.filter(function (s) { return count((s.h + " " + s.t).toLowerCase(), word); }).length;
    return Math.log(1 + index.length / (1 + found));
  }

  // The sections that fit best, and the word that an excerpt begins at. Where few have most of the words, one
  // is enough. Pages of single agents say much the same: one of them is shown, unless an agent is named.
  window.findSections = function (index, query) {
    var words = wordsOf(query);
    words.forEach(function (w) { w.weight = weigh(index, w.word); });
    function fitting(need) {
      var agents = 0;
      return index.map(function (s) { return [score(s, words, need), s]; })
        .filter(function (h) { return h[0] > 0; }).sort(function (a, b) { return b[0] - a[0]; })
        .filter(function (h) {
          if (!/^docs\/agents\//.test(h[1].u)) return true;
          return words.some(function (w) { return count(h[1].p.toLowerCase(), w.word); }) || !agents++;
        }).slice(0, 10).map(function (h) { return h[1]; });
    }
    if (!words.length) return { word: "", sections: [] };
    var sections = fitting(0.6);
    if (sections.length < 5) {
      sections = sections.concat(fitting(0).filter(function (s) { return sections.indexOf(s) < 0; }));
    }
    return { word: words[0].word, sections: sections };
  };
})();
