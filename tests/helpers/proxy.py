"""A real nginx with the file of docs/deploy, in front of a real studio."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import httpx2 as httpx

from tests.helpers.studio_server import TOKEN, Server

DEPLOY = Path(__file__).parents[2] / "docs" / "deploy"
HOST = "rank.example.org"  # the browser of the tests looks for it on this machine
MAIN = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""
CERTIFICATE = [
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
    *("-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"),
]


def nginx_program():
    """Where nginx is, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


class ProxiedStudio:
    """A studio below https://rank.example.org:PORT/rank; `site` changes the text of the file."""

    def __init__(self, folder, *arguments, site=lambda text: text):
        self.folder = Path(folder)
        # nginx inherits the socket: no other program can take the port in between.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"https://{HOST}:{self.port}/rank"
        self.studio = Server(self.folder / "runs.db", "--public-url", self.url, *arguments).start()
        self.printed = self.studio.process.stdout.readline()
        self.store = self.studio.store
        self._configure(site)
        self.nginx = self._start_nginx()

    def _configure(self, site):
        subprocess.run(
            [*CERTIFICATE, "-keyout", self.folder / "key.pem", "-out", self.folder / "cert.pem"],
            check=True,
            capture_output=True,
        )
        text = (DEPLOY / "nginx.conf").read_text()
        for ours, theirs in {
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "127.0.0.1:8321": f"127.0.0.1:{self.studio.port}",
            "/etc/ssl/certs/rank.example.org.pem": f"{self.folder}/cert.pem",
            "/etc/ssl/private/rank.example.org.key": f"{self.folder}/key.pem",
            "/var/log/nginx/zorank.log": f"{self.folder}/access.log",
        }.items():
            assert ours in text
            text = text.replace(ours, theirs)
        (self.folder / "site.conf").write_text(site(text))
        user = "user root;" if os.getuid() == 0 else ""
        (self.folder / "main.conf").write_text(MAIN.format(folder=self.folder, user=user))

    def _start_nginx(self):
        fd = self.listener.fileno()
        command = [
            nginx_program(),
            "-e",
            self.folder / "error.log",
            "-c",
            self.folder / "main.conf",
        ]
        env = {**os.environ, "NGINX": f"{fd};"}
        options = {"env": env, "pass_fds": (fd,), "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, **options)

    def client(self, token=TOKEN, **settings):
        """A client of the owner, at the public URL."""
        headers = {"Host": f"{HOST}:{self.port}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        base = f"https://127.0.0.1:{self.port}/rank"
        return httpx.Client(base_url=base, headers=headers, verify=False, timeout=120, **settings)

    def stop(self):
        self.nginx.terminate()
        self.nginx.wait()
        self.listener.close()
        self.studio.stop()
