/** The address of the page's own child, as `child.origin`: with the path that a proxy has put it under, without a slash at the end. */
export const here = new URL(".", document.baseURI).href.replace(/\/$/, "");
