# The studio in a container:
#
#     docker build --tag zorank .
#     docker run --publish 127.0.0.1:8321:8321 --volume zorank:/data zorank
#
# It prints a link with the owner's token. Runs and the token are kept in the volume. For others,
# put a proxy in front of it (docs/deploy.md) and add --public-url.
FROM python:3.13-slim

RUN useradd --create-home zorank && mkdir /data && chown zorank /data
WORKDIR /app
COPY pyproject.toml build_metadata.py constraints.txt README.md LICENSE ./
COPY zorank zorank
RUN pip install --no-cache-dir --constraint constraints.txt '.[studio,dream,postgres]'

USER zorank
WORKDIR /data
ENV XDG_DATA_HOME=/data
VOLUME /data
EXPOSE 8321
HEALTHCHECK CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8321/healthz')"]
ENTRYPOINT ["zorank", "studio", "--no-browser", "--host", "0.0.0.0", "--port", "8321"]
CMD ["--store", "sqlite:////data/runs.db"]
