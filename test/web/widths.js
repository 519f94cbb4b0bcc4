// What is cut, hidden or outside of the window on the page that is shown; evaluated by widths_test.go. Whoever reads can
// reach a text that is in a box that scrolls, and sees the title of one that ends in an ellipsis.
(() => {
  const broken = new Set(),
    plain = (text) => text.replace(/\s+/g, " ").trim(),
    told = (e, text) => plain(e.closest("[title]")?.title ?? "").includes(plain(text)),
    say = (e, what) =>
      broken.add(`${e.tagName.toLowerCase()}.${e.className.baseVal ?? e.className} ${what}: ${plain(e.textContent).slice(0, 60)}`);
  if (document.documentElement.scrollWidth > innerWidth)
    broken.add(`the document is ${document.documentElement.scrollWidth} pixels wide`);

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walker.nextNode());) {
    const e = n.parentElement;
    if (!plain(n.data) || !e.checkVisibility() || e.closest(".hidden, .skip, noscript, option, svg")) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    for (const text of range.getClientRects()) if (text.width > 0) look(e, n.data, text);
  }
  /** Goes from a text's element outwards, as far as a box that scrolls or cuts. */
  function look(e, data, text) {
    let last = text;
    for (let p = e, seen = text; p !== document.body; p = p.parentElement) {
      const { display, overflowX, textOverflow, webkitLineClamp } = getComputedStyle(p),
        box = p.getBoundingClientRect();
      if (display === "inline") continue;
      const over = seen.right > box.right + 1 || seen.left < box.left - 1;
      if (overflowX === "auto" || overflowX === "scroll") seen = box; // What is in it can be reached.
      else if (overflowX === "visible") over && say(e, `runs over ${p.tagName.toLowerCase()}.${p.className}`);
      else if (over || seen.bottom > box.bottom + 1) {
        const marked = textOverflow === "ellipsis" || webkitLineClamp !== "none";
        if (!marked) say(e, "is cut without an ellipsis");
        else if (!told(e, data)) say(e, "is cut without a title");
        seen = box;
      }
      last = seen;
      if (p.tagName === "DIALOG") break; // It lies above all else.
    }
    if (last.right > innerWidth + 1) say(e, "is outside of the window");
  }
  for (const g of document.querySelectorAll(".dag g")) {
    const width = g.querySelector("rect").getBBox().width;
    for (const text of g.querySelectorAll("text")) {
      const is = text.getBBox();
      if (is.x + is.width > width) say(text, "runs over its box");
      if (text.textContent.includes("…") && text.classList.contains("soft")) say(text, "is cut");
    }
  }
  return [...broken];
})();
