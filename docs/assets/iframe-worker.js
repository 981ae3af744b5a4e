// Search from disk: browsers start no worker for a page that was opened from disk. There, this takes the place of
// Worker: the worker's script runs in a hidden frame, and messages go through direct calls.
// The name contains "iframe-worker", so the site builder adds no script from elsewhere for the same end.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.listeners = [];
      this.waiting = []; // messages that come before the script is there
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.addEventListener = (type, listener) => {
        if (type === "message") this.listeners.push(listener);
      };
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      inside.document.head.appendChild(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.listeners.forEach((listener) => listener(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();
