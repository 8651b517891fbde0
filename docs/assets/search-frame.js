// Browsers start no workers in pages that are opened as files. The search of this manual is a
// worker; here its script runs in a hidden frame instead, and messages pass in both directions.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.pass(this, data) // what the worker says
      this.inside.importScripts = () => {} // further languages, which this manual has not
      const script = frame.contentDocument.createElement("script")
      script.src = url
      script.onload = () => {
        this.isReady = true
        for (const data of this.waiting) this.postMessage(data)
      }
      frame.contentDocument.body.append(script)
    }
    pass(target, data) {
      const event = new MessageEvent("message", { data })
      target.dispatchEvent(event)
      if (target.onmessage && target !== this.inside) target.onmessage(event)
    }
    postMessage(data) {
      if (this.isReady) setTimeout(() => this.pass(this.inside, data))
      else this.waiting.push(data)
    }
    terminate() {}
  }
}
