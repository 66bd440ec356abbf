"""Controls pages in a headless Chromium, for tests: clicks, hovers, console errors and screenshots.

    with Browser() as browser:
        browser.open("page.html")
        browser.click("#more")
        assert browser.text("#details") == "conv2"
        browser.screenshot("page.png")

Leaving the block checks that the console of the browser has no error. Pages can only access this machine: other network
requests are errors.
"""

import io
import os
import pathlib
import shutil
import tempfile

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait


class Browser:
    def __init__(self, width=1280, height=900):
        self.home = tempfile.TemporaryDirectory(prefix="layout-browser-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # The sandbox needs privileges that root and most containers lack; the pages belong to the project.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--force-device-scale-factor=1", f"--window-size={width},{height}",
                         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"),
                                          env={**os.environ, "HOME": self.home.name})
        self.driver = webdriver.Chrome(options, service)
        # The window has a frame, but the page must have the requested size.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            errors = self.errors()
            assert kind or not errors, "\n".join(errors)
        finally:
            self.driver.quit()
            self.home.cleanup()

    def open(self, page):
        """Opens a file, or an address of this machine."""
        page = str(page)
        self.driver.get(page if "://" in page else pathlib.Path(page).resolve().as_uri())

    def errors(self):
        """Returns the console errors since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def find(self, selector):
        """Returns the first element of a CSS selector, waiting until it exists."""
        return WebDriverWait(self.driver, 20).until(
            lambda driver: driver.find_elements(By.CSS_SELECTOR, selector),
            f"the page has no {selector}")[0]

    def count(self, selector):
        return len(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector):
        return self.find(selector).text

    def click(self, selector):
        webdriver.ActionChains(self.driver).click(self.find(selector)).perform()

    def hover(self, selector):
        webdriver.ActionChains(self.driver).move_to_element(self.find(selector)).perform()

    def type(self, selector, text):
        element = self.find(selector)
        element.clear()
        element.send_keys(text)

    def run(self, script, *arguments):
        """Runs JavaScript and returns its result."""
        return self.driver.execute_script(script, *arguments)

    def use_scheme(self, scheme):
        """Sets the color scheme of the system, 'light' or 'dark'."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self, path=None):
        """Returns the window as an image after checking that it is not blank: no color covers nearly all of it."""
        picture = self.driver.get_screenshot_as_png()
        if path:
            pathlib.Path(path).write_bytes(picture)
        image = Image.open(io.BytesIO(picture)).convert("RGB")
        colors = image.getcolors(image.width * image.height)
        share = max(count for count, _ in colors) / (image.width * image.height)
        assert share < 0.995, f"the page is blank: one color has {100 * share:.1f} % of it"
        return image
